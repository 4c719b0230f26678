// Locks and elections of Go's concurrency package, by commands: one JSON object per line, answered with one line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

type command struct {
	Id     int64  `json:"id"`
	Verb   string `json:"verb"`
	Params struct {
		// The session. Each one has a lease, so it has one place in a wait queue.
		Session string `json:"session"`
		Prefix  string `json:"prefix"`
		Value   string `json:"value"`
		Ttl     int    `json:"ttl"`
		Rounds  int    `json:"rounds"`
	} `json:"params"`
}

type program struct {
	client    *clientv3.Client
	mutex     sync.Mutex
	sessions  map[string]*concurrency.Session
	locks     map[string]*concurrency.Mutex
	elections map[string]*concurrency.Election
}

type round struct {
	Count    int   `json:"count"`
	Revision int64 `json:"revision"`
}

func (p *program) run(c command) (interface{}, error) {
	ctx := context.Background()
	p.mutex.Lock()
	session := p.sessions[c.Params.Session]
	name := c.Params.Session + " " + c.Params.Prefix
	lock := p.locks[name]
	election := p.elections[name]
	if session != nil && lock == nil {
		lock = concurrency.NewMutex(session, c.Params.Prefix)
		p.locks[name] = lock
	}
	if session != nil && election == nil {
		election = concurrency.NewElection(session, c.Params.Prefix)
		p.elections[name] = election
	}
	p.mutex.Unlock()

	switch c.Verb {
	case "open":
		opened, err := concurrency.NewSession(p.client, concurrency.WithTTL(c.Params.Ttl))
		if err != nil {
			return nil, err
		}
		p.mutex.Lock()
		p.sessions[c.Params.Session] = opened
		p.mutex.Unlock()
		return fmt.Sprintf("%x", opened.Lease()), nil
	case "done":
		<-session.Done()
		return nil, nil
	case "lock":
		if err := lock.Lock(ctx); err != nil {
			return nil, err
		}
		return p.created(ctx, lock.Key())
	case "owns":
		answer, err := p.client.Txn(ctx).If(lock.IsOwner()).Commit()
		if err != nil {
			return nil, err
		}
		return answer.Succeeded, nil
	case "unlock":
		return nil, lock.Unlock(ctx)
	case "rounds":
		return p.rounds(ctx, lock, c.Params.Value, c.Params.Rounds)
	case "campaign":
		if err := election.Campaign(ctx, c.Params.Value); err != nil {
			return nil, err
		}
		return election.Rev(), nil
	case "proclaim":
		return nil, election.Proclaim(ctx, c.Params.Value)
	case "resign":
		return nil, election.Resign(ctx)
	case "observe":
		return p.observe(ctx, election, c.Params.Value)
	}
	return nil, fmt.Errorf("no verb %s", c.Verb)
}

func (p *program) created(ctx context.Context, key string) (int64, error) {
	found, err := p.client.Get(ctx, key)
	if err != nil {
		return 0, err
	}
	if len(found.Kvs) == 0 {
		return 0, fmt.Errorf("%s is gone", key)
	}
	return found.Kvs[0].CreateRevision, nil
}

// Acquires and releases, again and again. Counts in between, in two steps: without exclusion, numbers come twice.
func (p *program) rounds(ctx context.Context, lock *concurrency.Mutex, counter string, rounds int) ([]round, error) {
	all := []round{}
	for len(all) < rounds {
		if err := lock.Lock(ctx); err != nil {
			return nil, err
		}
		revision, err := p.created(ctx, lock.Key())
		if err != nil {
			return nil, err
		}
		found, err := p.client.Get(ctx, counter)
		if err != nil {
			return nil, err
		}
		count := 0
		if len(found.Kvs) > 0 {
			count, _ = strconv.Atoi(string(found.Kvs[0].Value))
		}
		if _, err := p.client.Put(ctx, counter, strconv.Itoa(count+1)); err != nil {
			return nil, err
		}
		all = append(all, round{count, revision})
		if err := lock.Unlock(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Returns all values that were observed, up to the last one.
func (p *program) observe(ctx context.Context, election *concurrency.Election, last string) ([]string, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := []string{}
	for answer := range election.Observe(limited) {
		value := string(answer.Kvs[0].Value)
		seen = append(seen, value)
		if value == last {
			return seen, nil
		}
	}
	return nil, fmt.Errorf("the observation has ended: %v", seen)
}

func main() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: 30 * time.Second})
	if err != nil {
		panic(err)
	}
	p := &program{
		client:    client,
		sessions:  map[string]*concurrency.Session{},
		locks:     map[string]*concurrency.Mutex{},
		elections: map[string]*concurrency.Election{},
	}
	output := json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		go func() {
			value, err := p.run(c)
			answer := map[string]interface{}{"id": c.Id, "value": value}
			if err != nil {
				answer = map[string]interface{}{"id": c.Id, "error": err.Error()}
			}
			writing.Lock()
			defer writing.Unlock()
			output.Encode(answer)
		}()
	}
}
