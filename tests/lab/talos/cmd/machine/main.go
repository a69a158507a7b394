// Command machine answers as a Talos machine would, by the parts that Talos is made of: Go's TLS with its settings,
// gRPC's Go server, the COSI runtime's own state server, and the resources in Talos' own types. It judges clients; nothing
// in it does anything.
//
// It reads {"address", "bundle"} as JSON from the standard input: without a bundle it is in maintenance mode, with one
// (the YAML of `talosctl gen secrets`) it is configured by that cluster. It says "listening" on a line once it does, and
// ends when its standard input ends.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	stdx509 "crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

type request struct {
	Address string `json:"address"`
	Bundle  string `json:"bundle"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "machine:", err)
		os.Exit(1)
	}
}

func run() error {
	decoder := json.NewDecoder(os.Stdin)

	var request request
	if err := decoder.Decode(&request); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}

	configuration, err := transport(request)
	if err != nil {
		return fmt.Errorf("set up TLS: %w", err)
	}

	resources := state.WrapCore(namespaced.NewState(inmem.Build))
	if err = populate(context.Background(), resources, request.Bundle != ""); err != nil {
		return fmt.Errorf("fill the state: %w", err)
	}

	listener, err := net.Listen("tcp", net.JoinHostPort(request.Address, "50000"))
	if err != nil {
		return err
	}

	machines := grpc.NewServer(grpc.Creds(credentials.NewTLS(configuration)))
	v1alpha1.RegisterStateServer(machines, server.NewState(resources))
	machine.RegisterMachineServiceServer(machines, &service{state: resources})

	fmt.Println("listening")

	go func() {
		// The test that started it is gone when the pipe is.
		io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), os.Stdin))
		machines.Stop()
	}()

	return machines.Serve(listener)
}

// transport builds the server's TLS as apid does.
func transport(request request) (*tls.Config, error) {
	ip := net.ParseIP(request.Address)
	now := time.Now()
	options := []x509.Option{
		x509.IPAddresses([]net.IP{ip}),
		x509.NotBefore(now.Add(-time.Minute)),
		x509.NotAfter(now.Add(24 * time.Hour)),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}),
	}

	if request.Bundle == "" {
		authority, err := x509.NewSelfSignedCertificateAuthority(x509.ECDSA(false), x509.NotAfter(now.Add(24*time.Hour)))
		if err != nil {
			return nil, err
		}

		pair, err := x509.NewKeyPair(authority, append(options, x509.CommonName("maintenance-service.talos.dev"))...)
		if err != nil {
			return nil, err
		}

		return settings(pair), nil
	}

	bundle := &secrets.Bundle{}
	if err := yaml.NewDecoder(bytes.NewBufferString(request.Bundle)).Decode(bundle); err != nil {
		return nil, err
	}

	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(bundle.Certs.OS)
	if err != nil {
		return nil, err
	}

	pair, err := x509.NewKeyPair(authority, append(options, x509.CommonName("machine"))...)
	if err != nil {
		return nil, err
	}

	configuration := settings(pair)
	configuration.ClientAuth = tls.RequireAndVerifyClientCert
	configuration.ClientCAs = stdx509.NewCertPool()
	configuration.ClientCAs.AppendCertsFromPEM(bundle.Certs.OS.Crt)

	return configuration, nil
}

// settings are those of apid of Talos 1.13 (siderolabs/crypto, package tls).
func settings(pair *x509.KeyPair) *tls.Config {
	return &tls.Config{
		Certificates:           []tls.Certificate{*pair.Certificate},
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{"h2"},
		SessionTicketsDisabled: true,
	}
}
