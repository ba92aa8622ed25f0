// Command server answers every HTTP request with a few bytes. Usage: server ADDRESS:PORT
//
// It ends by itself after two minutes, should nobody stop it.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	time.AfterFunc(2*time.Minute, func() { os.Exit(0) })
	http.HandleFunc("/hello", func(answer http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(answer, "hello from the casebook")
	})
	panic(http.ListenAndServe(os.Args[1], nil))
}
