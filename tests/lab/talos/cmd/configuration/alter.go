package main

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

type alterArguments struct {
	Configuration []byte `json:"configuration"`
	// Path names a value of the main document, as machine.certSANs[0].
	Path string `json:"path"`
	// Index of the byte in the value; without one it is the middle.
	Index *int `json:"index"`
}

type alterResult struct {
	Configuration []byte `json:"configuration"`
}

// alter puts another byte into a value: what a configuration would suffer on its way that nothing protects. In a text
// it is one of the same class (digit, small or capital letter). In a certificate it is the last of its public key, in a
// private key one of the key itself, so that both are still what they say they are.
func alter(arguments alterArguments) (any, error) {
	var document yaml.Node

	// The main document comes first; others follow after a line of dashes.
	if err := yaml.NewDecoder(bytes.NewReader(arguments.Configuration)).Decode(&document); err != nil {
		return nil, err
	}

	value, err := find(&document, arguments.Path)
	if err != nil {
		return nil, err
	}

	altered, err := alteredText(value.Value, arguments.Index)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arguments.Path, err)
	}

	lines := strings.SplitAfter(string(arguments.Configuration), "\n")
	line, start := lines[value.Line-1], value.Column-1

	if value.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		start++
	}

	lines[value.Line-1] = line[:start] + altered + line[start+len(value.Value):]

	return alterResult{Configuration: []byte(strings.Join(lines, ""))}, nil
}

func alteredText(text string, index *int) (string, error) {
	if encoded, err := base64.StdEncoding.DecodeString(text); err == nil {
		if block, _ := pem.Decode(encoded); block != nil {
			return alteredPEM(block)
		}
	}

	place := len(text) / 2
	if index != nil {
		place = *index
	}

	for place < len(text) && other(text[place]) == text[place] {
		place++
	}

	if place >= len(text) {
		return "", errors.New("no digit and no letter from there on")
	}

	return text[:place] + string(other(text[place])) + text[place+1:], nil
}

// inKey lies in the secret part of an Ed25519 key (PKCS #8) and of an EC key (SEC 1), and in an RSA key's modulus.
const inKey = 20

func alteredPEM(block *pem.Block) (string, error) {
	place := inKey

	if block.Type == "CERTIFICATE" {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", err
		}

		key := certificate.RawSubjectPublicKeyInfo
		place = bytes.Index(block.Bytes, key) + len(key) - 1
	}

	block.Bytes[place] ^= 1

	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(block)), nil
}

// find follows a path through mappings and sequences to a text on one line.
func find(document *yaml.Node, path string) (*yaml.Node, error) {
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, errors.New("the configuration has no document")
	}

	node := document.Content[0]

	for step := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		next := child(node, step)
		if next == nil {
			return nil, fmt.Errorf("the configuration has no %s: %s is missing", path, step)
		}

		node = next
	}

	if node.Kind != yaml.ScalarNode || strings.Contains(node.Value, "\n") {
		return nil, fmt.Errorf("%s is not a text on one line", path)
	}

	return node, nil
}

func child(node *yaml.Node, step string) *yaml.Node {
	if number, isIndex := strings.CutPrefix(step, "["); isIndex {
		index, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
		if err != nil || node.Kind != yaml.SequenceNode || index < 0 || index >= len(node.Content) {
			return nil
		}

		return node.Content[index]
	}

	if node.Kind != yaml.MappingNode {
		return nil
	}

	for key := 0; key+1 < len(node.Content); key += 2 {
		if node.Content[key].Value == step {
			return node.Content[key+1]
		}
	}

	return nil
}

// other is the next byte of the class, or the same one for what is neither a digit nor a letter.
func other(letter byte) byte {
	for _, class := range []string{"0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		if index := strings.IndexByte(class, letter); index >= 0 {
			return class[(index+1)%len(class)]
		}
	}

	return letter
}
