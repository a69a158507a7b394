package main

import (
	"bytes"
	"crypto/rsa"
	stdx509 "crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"sort"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
)

const kubernetesKeyUsage = stdx509.KeyUsageDigitalSignature | stdx509.KeyUsageKeyEncipherment

var clientOnly = []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageClientAuth}

// described holds all that must be equal, and nothing that is random.
type described struct {
	Certificates map[string]certificate `json:"certificates"`
	Keys         map[string]string      `json:"keys"`
	Texts        map[string]string      `json:"texts"`
}

type certificate struct {
	Subject             string   `json:"subject"`
	Issuer              string   `json:"issuer"`
	KeyAlgorithm        string   `json:"key_algorithm"`
	SignatureAlgorithm  string   `json:"signature_algorithm"`
	LifetimeHours       int      `json:"lifetime_hours"`
	KeyUsage            int      `json:"key_usage"`
	ExtendedKeyUsage    []int    `json:"extended_key_usage"`
	IsAuthority         bool     `json:"is_authority"`
	MaximumPathLength   int      `json:"maximum_path_length"`
	SubjectKeyBytes     int      `json:"subject_key_bytes"`
	NamesIssuersKey     bool     `json:"names_issuers_key"`
	Extensions          []string `json:"extensions"`
	HasAlternativeNames bool     `json:"has_alternative_names"`
	SignedByAuthority   bool     `json:"signed_by_authority"`
}

func describe(bundle *secrets.Bundle, talosClient, kubernetesClient *x509.PEMEncodedCertificateAndKey) (described, error) {
	result := described{Certificates: map[string]certificate{}, Keys: map[string]string{}, Texts: map[string]string{}}

	pairs := []struct {
		name            string
		pair, authority *x509.PEMEncodedCertificateAndKey
	}{
		{"os", bundle.Certs.OS, bundle.Certs.OS},
		{"etcd", bundle.Certs.Etcd, bundle.Certs.Etcd},
		{"k8s", bundle.Certs.K8s, bundle.Certs.K8s},
		{"k8saggregator", bundle.Certs.K8sAggregator, bundle.Certs.K8sAggregator},
		{"talos client", talosClient, bundle.Certs.OS},
		{"kubernetes client", kubernetesClient, bundle.Certs.K8s},
	}

	for _, each := range pairs {
		authority, err := each.authority.GetCert()
		if err != nil {
			return result, fmt.Errorf("the authority of %s: %w", each.name, err)
		}

		parsed, err := each.pair.GetCert()
		if err != nil {
			return result, fmt.Errorf("the certificate of %s: %w", each.name, err)
		}

		result.Certificates[each.name] = describeCertificate(parsed, authority)

		if result.Keys[each.name], err = describeKey(each.pair.Key); err != nil {
			return result, fmt.Errorf("the key of %s: %w", each.name, err)
		}
	}

	var err error
	if result.Keys["k8sserviceaccount"], err = describeKey(bundle.Certs.K8sServiceAccount.Key); err != nil {
		return result, fmt.Errorf("the key of service accounts: %w", err)
	}

	result.Texts["bootstrap token"] = shape(bundle.Secrets.BootstrapToken)
	result.Texts["trustd token"] = shape(bundle.TrustdInfo.Token)
	result.Texts["cluster id"] = decoded(base64.URLEncoding, bundle.Cluster.ID)
	result.Texts["cluster secret"] = decoded(base64.StdEncoding, bundle.Cluster.Secret)
	result.Texts["secretbox secret"] = decoded(base64.StdEncoding, bundle.Secrets.SecretboxEncryptionSecret)

	return result, nil
}

func describeCertificate(parsed, authority *stdx509.Certificate) certificate {
	extensions := []string{}
	for _, extension := range parsed.Extensions {
		extensions = append(extensions, fmt.Sprintf("%s critical=%t", extension.Id, extension.Critical))
	}

	sort.Strings(extensions)

	usages := []int{}
	for _, usage := range parsed.ExtKeyUsage {
		usages = append(usages, int(usage))
	}

	return certificate{
		// Hexadecimal, so that the encoding of the texts counts too.
		Subject:             fmt.Sprintf("%x", parsed.RawSubject),
		Issuer:              fmt.Sprintf("%x", parsed.RawIssuer),
		KeyAlgorithm:        parsed.PublicKeyAlgorithm.String(),
		SignatureAlgorithm:  parsed.SignatureAlgorithm.String(),
		LifetimeHours:       int(parsed.NotAfter.Sub(parsed.NotBefore).Hours()),
		KeyUsage:            int(parsed.KeyUsage),
		ExtendedKeyUsage:    usages,
		IsAuthority:         parsed.IsCA,
		MaximumPathLength:   parsed.MaxPathLen,
		SubjectKeyBytes:     len(parsed.SubjectKeyId),
		NamesIssuersKey:     bytes.Equal(parsed.AuthorityKeyId, authority.SubjectKeyId),
		Extensions:          extensions,
		HasAlternativeNames: len(parsed.DNSNames)+len(parsed.IPAddresses) > 0,
		SignedByAuthority:   parsed.CheckSignatureFrom(authority) == nil,
	}
}

// describeKey names the PEM label, the form of the bytes in it, and their length where it is fixed.
func describeKey(text []byte) (string, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return "", errors.New("not PEM")
	}

	if len(rest) != 0 {
		return "", errors.New("something follows the PEM block")
	}

	if key, err := stdx509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return fmt.Sprintf("%s: PKCS#1, %d bits", block.Type, key.N.BitLen()), key.Validate()
	}

	if _, err := stdx509.ParseECPrivateKey(block.Bytes); err == nil {
		return fmt.Sprintf("%s: SEC 1, %d bytes", block.Type, len(block.Bytes)), nil
	}

	key, err := stdx509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", err
	}

	if _, ok := key.(*rsa.PrivateKey); ok {
		return fmt.Sprintf("%s: PKCS#8, RSA", block.Type), nil
	}

	return fmt.Sprintf("%s: PKCS#8, %d bytes", block.Type, len(block.Bytes)), nil
}

var tokenForm = regexp.MustCompile(`^[0-9a-z]{6}\.[0-9a-z]{16}$`)

func shape(token string) string {
	return fmt.Sprintf("token=%t", tokenForm.MatchString(token))
}

func decoded(encoding *base64.Encoding, text string) string {
	raw, err := encoding.DecodeString(text)

	return fmt.Sprintf("base64=%t, %d bytes", err == nil, len(raw))
}
