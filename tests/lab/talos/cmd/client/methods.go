package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/emptypb"

	_ "github.com/cosi-project/runtime/api/v1alpha1"
	_ "github.com/siderolabs/talos/pkg/machinery/api/inspect"
	_ "github.com/siderolabs/talos/pkg/machinery/api/storage"
	_ "github.com/siderolabs/talos/pkg/machinery/api/time"
)

// method calls a method by its full name, as protobuf JSON. A method that Talos' own protos don't know is called with an
// empty message.
func (m *machine) method(ctx context.Context, next call) (any, error) {
	request, streams, err := m.request(next)
	if err != nil {
		return nil, err
	}

	for key, value := range next.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}

	path := "/" + strings.TrimPrefix(next.Name, "/")
	if !streams {
		reply := request.reply()
		if err := m.raw.Invoke(ctx, path, request.message, reply); err != nil {
			return nil, err
		}

		return encode(reply)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	stream, err := m.raw.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return nil, err
	}

	if err := errors.Join(stream.SendMsg(request.message), stream.CloseSend()); err != nil {
		return nil, err
	}

	items := []any{}

	for next.Items == 0 || len(items) < next.Items {
		reply := request.reply()

		err := stream.RecvMsg(reply)
		if errors.Is(err, io.EOF) {
			return items, nil
		}

		if err != nil {
			return items, err
		}

		item, err := encode(reply)
		if err != nil {
			return items, err
		}

		items = append(items, item)
	}

	return items, nil
}

type request struct {
	message proto.Message
	reply   func() proto.Message
}

func (m *machine) request(next call) (request, bool, error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(next.Name, "/"), "/", "."))

	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if errors.Is(err, protoregistry.NotFound) {
		return request{message: &emptypb.Empty{}, reply: func() proto.Message { return &emptypb.Empty{} }}, false, nil
	}

	if err != nil {
		return request{}, false, err
	}

	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return request{}, false, fmt.Errorf("%s is no method", name)
	}

	message := dynamicpb.NewMessage(method.Input())

	if len(next.Arguments) > 0 {
		if err := protojson.Unmarshal(next.Arguments, message); err != nil {
			return request{}, false, err
		}
	}

	reply := func() proto.Message { return dynamicpb.NewMessage(method.Output()) }

	return request{message: message, reply: reply}, method.IsStreamingServer(), nil
}

func encode(reply proto.Message) (any, error) {
	encoded, err := protojson.MarshalOptions{UseProtoNames: true, Resolver: unresolved{}}.Marshal(reply)

	return json.RawMessage(encoded), err
}

// unresolved leaves messages within messages alone where their type is not known: events carry type URLs of Talos' own.
type unresolved struct{}

func (unresolved) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (unresolved) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (unresolved) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	return protoregistry.GlobalTypes.FindMessageByName(name)
}

func (unresolved) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return protoregistry.GlobalTypes.FindMessageByURL(url)
}
