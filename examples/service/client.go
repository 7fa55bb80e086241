// Report a failure to the local service and print what the agent reads for it: `go run client.go`.
// `errcompact serve` must run; it needs no module.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func socket() string {
	folder := cmp.Or(os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME")+"/.local/state") + "/otel-errcompact/service"
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); runtime != "" {
		folder = runtime + "/errcompact"
	}
	return cmp.Or(os.Getenv("OTEL_ERRCOMPACT_SERVICE"), folder+"/errcompact.sock")
}

func main() {
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", socket())
	}}}
	report, _ := json.Marshal(map[string]any{
		"run": "session-1", "tool": "sql", "arguments": map[string]string{"query": "select * from orders"},
		"call_id": "c1", "text": "no such table: orders", "exit_status": 1,
	})
	response, err := client.Post("http://errcompact/v1/failures", "application/json", bytes.NewReader(report))
	if err != nil {
		log.Fatal(err)
	}
	var answer struct {
		Digest  string
		Error   string
		Verdict struct {
			Stopped bool
			Reason  string
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		log.Fatal(response.Status, answer.Error, err)
	}
	fmt.Println(answer.Digest)
	if answer.Verdict.Stopped {
		fmt.Println(answer.Verdict.Reason)
	}
}
