// Command client fetches a page again and again over HTTP and HTTPS connections that are kept.
//
// Usage: client URL CERTIFICATE REQUESTS
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	pem, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(pem)
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "casebook.test"},
	}}
	requests, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	for range requests {
		response, err := client.Get(os.Args[1])
		if err != nil {
			panic(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			panic(response.Status)
		}
		response.Body.Close()
	}
	fmt.Println(requests, "requests")
}
