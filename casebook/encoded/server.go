// A shop's server that answers with its price list. Usage: server ADDRESS each|once
//
// It encodes the list for each request, or once, when it starts.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type article struct {
	Name   string
	Prices map[string]float64
}

func list() []article {
	var articles []article
	for number := 0; number < 20000; number++ {
		prices := map[string]float64{}
		for _, size := range []string{"small", "medium", "large"} {
			prices[size] = float64(number*len(size)) / 7
		}
		articles = append(articles, article{fmt.Sprintf("article %d", number), prices})
	}
	return articles
}

func encode(articles []article) []byte {
	encoded, err := json.Marshal(articles) // casebook: again for everybody
	if err != nil {
		log.Fatal(err)
	}
	return encoded
}

func main() {
	articles := list()
	once := encode(articles)
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		encoded := once
		if os.Args[2] == "each" {
			encoded = encode(articles)
		}
		// Who asks reads the beginning: the list itself is not what takes time.
		answer.Write(encoded[:200])
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
