// Package tandem verifies access tokens of Tandem with the standard library alone, and follows the list of ended sessions. Copy this file.
package tandem

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"time"
)

var (
	ErrInvalid = errors.New("answer 401 with WWW-Authenticate: Bearer")
	ErrUnknown = errors.New("answer 503 with Retry-After")
)

// Verifier has the keys and what has ended, both read in the background.
type Verifier struct {
	Issuer, Audience       string
	KeySet, EndedSessions  string        // addresses, the latter empty to follow no list
	StaleAfter             time.Duration // without a list, after which tokens get ErrUnknown; 0: never
	mutex                  sync.RWMutex  // Authenticate reads under it, and poll writes.
	keys                   map[string]*ecdsa.PublicKey
	keysReadAt, listReadAt time.Time
	ended                  map[string]int64 // sessions, users and everybody, with the time
}

// Claims are those of an access token; the last two lines, of a list of ended sessions.
type Claims struct {
	Iss, Sub, Aud, TokenType string
	Iat, Exp                 int64
	User, Attributes, Cnf    json.RawMessage
	Lifetime, Before         int64
	Sessions, Users          []Entry
}

// Entry is what a list says of a session or a user.
type Entry struct {
	Sid, Sub string
	At       int64 `json:"event_timestamp"`
}

// Start begins to read. Until there are keys, Authenticate returns ErrUnknown.
func (v *Verifier) Start() {
	v.ended = map[string]int64{}
	go v.poll(v.KeySet, 30*time.Second, &v.keysReadAt, v.readKeys)
	if v.EndedSessions != "" {
		go v.poll(v.EndedSessions+"?wait=20", time.Second/2, &v.listReadAt, v.readList)
	}
}

// Authenticate returns the claims of the access token in the header Authorization; otherwise ErrInvalid or ErrUnknown.
func (v *Verifier) Authenticate(authorization string) (*Claims, error) {
	v.mutex.RLock()
	defer v.mutex.RUnlock()
	scheme, token, _ := strings.Cut(authorization, " ")
	c, sid, err := v.verified(token, "JWT", v.Audience, 0)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(scheme, "bearer") || c.TokenType != "access" || c.Cnf != nil || time.Now().Unix() > c.Exp+5 {
		return nil, ErrInvalid
	}
	if v.StaleAfter > 0 && time.Since(v.listReadAt) > v.StaleAfter {
		return nil, ErrUnknown
	}
	if v.ended[sid] > 0 || c.Iat <= v.ended[c.Sub] || c.Iat <= v.ended["everybody"] {
		return nil, ErrInvalid
	}
	return c, nil
}

// verified returns the claims of a token of this type, issued since then, and its session.
func (v *Verifier) verified(token, typ, audience string, since int64) (*Claims, string, error) {
	var header struct{ Alg, Typ, Kid, Sid string }
	parts := strings.Split(token, ".")
	if len(parts) != 3 || json.Unmarshal(decoded(parts[0]), &header) != nil || header.Alg != "ES256" || header.Typ != typ {
		return nil, "", ErrInvalid
	}
	if time.Since(v.keysReadAt) > 5*time.Minute {
		return nil, "", ErrUnknown
	}
	key, signature := v.keys[header.Kid], decoded(parts[2])
	if key == nil || len(signature) != 64 {
		return nil, "", ErrInvalid
	}
	hash, r, s := sha256.Sum256([]byte(parts[0]+"."+parts[1])), number(signature[:32]), number(signature[32:])
	var c Claims
	if !ecdsa.Verify(key, hash[:], r, s) || json.Unmarshal(decoded(parts[1]), &c) != nil ||
		c.Iss != v.Issuer || c.Aud != audience || c.Iat < since {
		return nil, "", ErrInvalid
	}
	return &c, header.Sid, nil
}

func decoded(part string) []byte {
	bytes, _ := base64.RawURLEncoding.DecodeString(part)
	return bytes
}

func number(bytes []byte) *big.Int {
	return new(big.Int).SetBytes(bytes)
}

func (v *Verifier) readKeys(body []byte) error {
	var set struct{ Keys []struct{ Kid, X, Y string } }
	if err := json.Unmarshal(body, &set); err != nil {
		return err
	}
	v.keys = map[string]*ecdsa.PublicKey{}
	for _, each := range set.Keys {
		x, y := number(decoded(each.X)), number(decoded(each.Y))
		if elliptic.P256().IsOnCurve(x, y) {
			v.keys[each.Kid] = &ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}
		}
	}
	return nil
}

func (v *Verifier) readList(body []byte) error {
	list, _, err := v.verified(string(body), "ended-sessions+jwt", "ended-sessions", time.Now().Unix()-120)
	if err != nil {
		return err
	}
	all := append(append(list.Sessions, list.Users...), Entry{Sub: "everybody", At: list.Before})
	for _, each := range all {
		if id := each.Sid + each.Sub; each.At > v.ended[id] {
			v.ended[id] = each.At
		}
	}
	for id, at := range v.ended {
		if at < list.Iat-list.Lifetime-10 {
			delete(v.ended, id)
		}
	}
	return nil
}

// poll asks an address again and again, and hands over what is new.
func (v *Verifier) poll(url string, pause time.Duration, readAt *time.Time, read func(body []byte) error) {
	for etag, wait := `""`, pause; ; time.Sleep(wait) {
		body, tag, err := get(url, etag)
		wait = pause
		v.mutex.Lock()
		if err == nil && body != nil {
			err = read(body)
		}
		if err == nil {
			etag, *readAt = tag, time.Now()
		} else if err != ErrUnknown { // A list that comes before the keys is soon read again.
			wait = 3 * time.Second
		}
		v.mutex.Unlock()
	}
}

// get returns no body if it is still the one with this ETag.
func get(url, etag string) (body []byte, tag string, err error) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("If-None-Match", etag)
	response, err := (&http.Client{Timeout: 30 * time.Second}).Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	if response.StatusCode == 304 {
		return nil, etag, nil
	}
	if response.StatusCode != 200 {
		return nil, "", errors.New(response.Status)
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, 8<<20))
	return body, response.Header.Get("ETag"), err
}
