package main

import (
	"crypto/tls"
	stdx509 "crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/siderolabs/crypto/x509"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"
)

// access is what a configuration file gives its user.
type access struct {
	authority []byte
	pair      *x509.PEMEncodedCertificateAndKey
}

func load(text string) (*secrets.Bundle, error) {
	folder, err := os.MkdirTemp("", "credentials")
	if err != nil {
		return nil, err
	}

	defer os.RemoveAll(folder)

	path := filepath.Join(folder, "secrets.yaml")
	if err = os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}

	return secrets.LoadBundle(path)
}

func readTalosconfig(text string) (access, error) {
	parsed, err := clientconfig.FromString(text)
	if err != nil {
		return access{}, err
	}

	context, ok := parsed.Contexts[parsed.Context]
	if !ok {
		return access{}, fmt.Errorf("there is no context %q", parsed.Context)
	}

	written, err := parsed.Bytes()
	if err != nil {
		return access{}, err
	}

	if string(written) != text {
		return access{}, errors.New("Talos would write it differently")
	}

	return decode(context.CA, context.Crt, context.Key)
}

func readKubeconfig(text string) (access, error) {
	var parsed struct {
		CurrentContext string `yaml:"current-context"`
		Clusters       []struct {
			Name    string
			Cluster struct {
				CertificateAuthorityData string `yaml:"certificate-authority-data"`
				Server                   string
			}
		}
		Contexts []struct {
			Name    string
			Context struct{ Cluster, User, Namespace string }
		}
		Users []struct {
			Name string
			User struct {
				ClientCertificateData string `yaml:"client-certificate-data"`
				ClientKeyData         string `yaml:"client-key-data"`
			}
		}
	}

	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return access{}, err
	}

	if len(parsed.Clusters) != 1 || len(parsed.Contexts) != 1 || len(parsed.Users) != 1 {
		return access{}, errors.New("expected one cluster, one context, one user")
	}

	cluster, context, user := parsed.Clusters[0], parsed.Contexts[0], parsed.Users[0]
	if context.Name != parsed.CurrentContext || context.Context.Cluster != cluster.Name || context.Context.User != user.Name {
		return access{}, errors.New("the names do not fit together")
	}

	return decode(cluster.Cluster.CertificateAuthorityData, user.User.ClientCertificateData, user.User.ClientKeyData)
}

func decode(authority, certificate, key string) (access, error) {
	var (
		texts [3][]byte
		err   error
	)

	for index, text := range []string{authority, certificate, key} {
		if texts[index], err = base64.StdEncoding.DecodeString(text); err != nil {
			return access{}, err
		}
	}

	return access{authority: texts[0], pair: &x509.PEMEncodedCertificateAndKey{Crt: texts[1], Key: texts[2]}}, nil
}

// handshake plays a server of this authority, which asks for a client certificate of the same, with Go's own TLS.
func handshake(authority *x509.PEMEncodedCertificateAndKey, client access) error {
	signer, err := x509.NewCertificateAuthorityFromCertificateAndKey(authority)
	if err != nil {
		return err
	}

	now := time.Now()

	serverPair, err := x509.NewKeyPair(signer,
		x509.IPAddresses([]net.IP{net.IPv4(127, 0, 0, 1)}),
		x509.NotBefore(now.Add(-time.Minute)),
		x509.NotAfter(now.Add(time.Hour)),
		x509.ExtKeyUsage([]stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}),
	)
	if err != nil {
		return err
	}

	clientPair, err := tls.X509KeyPair(client.pair.Crt, client.pair.Key)
	if err != nil {
		return err
	}

	trustedByServer, trustedByClient := stdx509.NewCertPool(), stdx509.NewCertPool()
	if !trustedByServer.AppendCertsFromPEM(authority.Crt) || !trustedByClient.AppendCertsFromPEM(client.authority) {
		return errors.New("an authority's certificate is not PEM")
	}

	serverSide, clientSide := net.Pipe()
	defer serverSide.Close()
	defer clientSide.Close()

	deadline := now.Add(10 * time.Second)
	if err = errors.Join(serverSide.SetDeadline(deadline), clientSide.SetDeadline(deadline)); err != nil {
		return err
	}

	served := make(chan error, 1)

	go func() {
		served <- tls.Server(serverSide, &tls.Config{
			Certificates: []tls.Certificate{*serverPair.Certificate},
			ClientAuth:   tls.RequireAndVerifyClientCert,
			ClientCAs:    trustedByServer,
			MinVersion:   tls.VersionTLS12,
			// Nothing is written after the handshake, and a pipe has no room for tickets.
			SessionTicketsDisabled: true,
		}).Handshake()
	}()

	err = tls.Client(clientSide, &tls.Config{
		Certificates: []tls.Certificate{clientPair},
		RootCAs:      trustedByClient,
		ServerName:   "127.0.0.1",
		MinVersion:   tls.VersionTLS12,
	}).Handshake()

	return errors.Join(err, <-served)
}
