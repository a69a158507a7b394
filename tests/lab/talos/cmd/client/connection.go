package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"

	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// machine is a machine as it is called: by Talos' client, and by method.
type machine struct {
	talos *client.Client
	raw   *grpc.ClientConn
}

// connect sets up both ways; nothing is dialled before the first call.
func connect(address, credentialsFile string) (*machine, error) {
	opts, config, err := options(address, credentialsFile)
	if err != nil {
		return nil, err
	}

	talos, err := client.New(context.Background(), opts...)
	if err != nil {
		return nil, err
	}

	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
		address = net.JoinHostPort(address, "50000")
	}

	config = config.Clone()
	config.ServerName = host

	raw, err := grpc.NewClient(
		"passthrough:///"+address,
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(32<<20), grpc.MaxCallSendMsgSize(32<<20)),
	)
	if err != nil {
		return nil, err
	}

	return &machine{talos: talos, raw: raw}, nil
}

func (m *machine) close() {
	_ = m.talos.Close() // The process ends.
	_ = m.raw.Close()
}

// mutualTLS is the TLS configuration of a talosconfig's context.
func mutualTLS(named *clientconfig.Context) (*tls.Config, error) {
	var pem [3][]byte

	for i, encoded := range []string{named.CA, named.Crt, named.Key} {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, err
		}

		pem[i] = decoded
	}

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem[0]) {
		return nil, errors.New("the context's ca holds no certificate")
	}

	own, err := tls.X509KeyPair(pem[1], pem[2])
	if err != nil {
		return nil, err
	}

	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}, nil
}
