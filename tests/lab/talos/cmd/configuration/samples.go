package main

import (
	"reflect"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block"
	"github.com/siderolabs/talos/pkg/machinery/config/types/cri"
	"github.com/siderolabs/talos/pkg/machinery/config/types/hardware"
	networktypes "github.com/siderolabs/talos/pkg/machinery/config/types/network"
	"github.com/siderolabs/talos/pkg/machinery/config/types/runtime"
	"github.com/siderolabs/talos/pkg/machinery/config/types/runtime/extensions"
	"github.com/siderolabs/talos/pkg/machinery/config/types/security"
	"github.com/siderolabs/talos/pkg/machinery/config/types/siderolink"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"
)

// The examples that the library's documentation is made of, each as a whole document at the place where it belongs.

type samplesResult struct {
	Samples []sample `json:"samples"`
}

type sample struct {
	// Type is the Go type whose example it is, and Field its field, if it is one's.
	Type  string `json:"type"`
	Field string `json:"field"`
	Text  string `json:"text"`
}

// place wraps a value in what stands around it, up to the document.
type place func(value any) map[string]any

func samples(struct{}) (any, error) {
	result := samplesResult{Samples: []sample{}}

	for _, file := range []*encoder.FileDoc{
		v1alpha1.GetFileDoc(), networktypes.GetFileDoc(), block.GetFileDoc(), cri.GetFileDoc(), hardware.GetFileDoc(),
		runtime.GetFileDoc(), extensions.GetFileDoc(), security.GetFileDoc(), siderolink.GetFileDoc(),
	} {
		types := map[string]*encoder.Doc{}
		for _, known := range file.Structs {
			types[known.Type] = known
		}

		for _, known := range file.Structs {
			around, found := placeOf(known, types, 0)
			if !found {
				continue
			}

			for _, example := range known.Examples {
				if text, ok := written(example, around); ok {
					result.Samples = append(result.Samples, sample{Type: known.Type, Text: text})
				}
			}

			for _, field := range known.Fields {
				for _, example := range field.Examples {
					wrapped := func(value any) map[string]any {
						return around(map[string]any{field.Name: within(value, field.Type)})
					}

					if text, ok := written(example, wrapped); ok {
						result.Samples = append(result.Samples, sample{Type: known.Type, Field: field.Name, Text: text})
					}
				}
			}
		}
	}

	return result, nil
}

// placeOf is how values of a type come into a document; types that stand in none have no place.
func placeOf(known *encoder.Doc, types map[string]*encoder.Doc, depth int) (place, bool) {
	if known.Type == "Config" {
		return asDocument(""), true
	}

	for _, field := range known.Fields {
		if field.Inline && field.Type == "Meta" {
			return asDocument(known.Type), true
		}
	}

	for _, appearance := range known.AppearsIn {
		parent, exists := types[appearance.TypeName]
		if !exists || depth > 8 {
			continue
		}

		around, found := placeOf(parent, types, depth+1)
		if !found {
			continue
		}

		for _, field := range parent.Fields {
			if field.Name == appearance.FieldName && field.Name != "" {
				return func(value any) map[string]any {
					return around(map[string]any{field.Name: within(value, field.Type)})
				}, true
			}
		}
	}

	return nil, false
}

func asDocument(kind string) place {
	return func(value any) map[string]any {
		document := map[string]any{}
		if kind != "" {
			document["apiVersion"] = "v1alpha1"
			document["kind"] = kind
		}

		if known, ok := value.(map[string]any); ok {
			for key, item := range known {
				document[key] = item
			}
		}

		return document
	}
}

// within makes an item the list or the map that its field takes, unless it is one already.
func within(value any, kind string) any {
	shape := reflect.Indirect(reflect.ValueOf(value)).Kind()

	switch {
	case strings.HasPrefix(kind, "[]") && shape != reflect.Slice && kind != "[]byte":
		return []any{value}
	case strings.HasPrefix(kind, "map[string]") && shape != reflect.Map:
		return map[string]any{"example": value}
	default:
		return value
	}
}

func written(example *encoder.Example, around place) (string, bool) {
	populate(example)

	value := example.GetValue()
	if value == nil {
		return "", false
	}

	text, err := encoder.NewEncoder(value, encoder.WithComments(encoder.CommentsDisabled)).Encode()
	if err != nil {
		return "", false
	}

	// A whole document or a part of one: a part is read back as plain YAML, and put in its place.
	if strings.Contains(string(text), "kind: ") && strings.Contains(string(text), "apiVersion: ") &&
		reflect.Indirect(reflect.ValueOf(value)).Kind() == reflect.Struct && !strings.Contains(string(text), "\n    kind: ") {
		return string(text), true
	}

	part, err := plain(text)
	if err != nil {
		return "", false
	}

	whole, err := encoder.NewEncoder(around(part), encoder.WithComments(encoder.CommentsDisabled)).Encode()

	return string(whole), err == nil
}

// populate fills an empty example from those of its fields, which the library cannot do for all types.
func populate(example *encoder.Example) {
	defer func() { _ = recover() }()

	example.Populate(0)
}

// plain reads YAML without any type.
func plain(text []byte) (any, error) {
	var value any

	err := yaml.Unmarshal(text, &value)

	return value, err
}
