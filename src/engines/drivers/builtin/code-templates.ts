export type Language = 'python' | 'javascript' | 'typescript' | 'go'

/** A small program people ask for, written out by hand per language. */
export type Template = { asked: RegExp; title: string; code: Partial<Record<Language, string>> }

export const TEMPLATES: Template[] = [
  {
    asked: /\bhello[ ,-]*world\b/i,
    title: 'Prints a greeting.',
    code: {
      python: 'print("Hello, world!")',
      javascript: "console.log('Hello, world!')",
      typescript: "console.log('Hello, world!')",
      go: 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("Hello, world!")\n}',
    },
  },
  {
    asked: /\bfizz ?buzz\b/i,
    title: 'Prints 1 to 100 with Fizz for multiples of 3, Buzz for multiples of 5.',
    code: {
      python:
        'for n in range(1, 101):\n    word = ("Fizz" if n % 3 == 0 else "") + ("Buzz" if n % 5 == 0 else "")\n    print(word or n)',
      javascript:
        "for (let n = 1; n <= 100; n++) {\n  const word = (n % 3 ? '' : 'Fizz') + (n % 5 ? '' : 'Buzz')\n  console.log(word || n)\n}",
      typescript:
        "for (let n = 1; n <= 100; n++) {\n  const word = (n % 3 ? '' : 'Fizz') + (n % 5 ? '' : 'Buzz')\n  console.log(word || n)\n}",
    },
  },
  {
    asked: /\bfactorial\b/i,
    title: 'The factorial of a whole number.',
    code: {
      python:
        'def factorial(n: int) -> int:\n    if n < 0:\n        raise ValueError("n must not be negative")\n    result = 1\n    for factor in range(2, n + 1):\n        result *= factor\n    return result',
      javascript:
        "function factorial(n) {\n  if (!Number.isInteger(n) || n < 0) throw new RangeError('n must be a whole number, 0 or more')\n  let result = 1n\n  for (let factor = 2n; factor <= BigInt(n); factor++) result *= factor\n  return result\n}",
      typescript:
        "function factorial(n: number): bigint {\n  if (!Number.isInteger(n) || n < 0) throw new RangeError('n must be a whole number, 0 or more')\n  let result = 1n\n  for (let factor = 2n; factor <= BigInt(n); factor++) result *= factor\n  return result\n}",
      go: 'func factorial(n uint64) uint64 {\n\tresult := uint64(1)\n\tfor factor := uint64(2); factor <= n; factor++ {\n\t\tresult *= factor\n\t}\n\treturn result\n}',
    },
  },
  {
    asked: /\bfibonacci\b/i,
    title: 'The first n Fibonacci numbers.',
    code: {
      python:
        'def fibonacci(n: int) -> list[int]:\n    numbers, a, b = [], 0, 1\n    for _ in range(n):\n        numbers.append(a)\n        a, b = b, a + b\n    return numbers',
      javascript:
        'function fibonacci(n) {\n  const numbers = []\n  for (let [a, b] = [0n, 1n]; numbers.length < n; [a, b] = [b, a + b]) numbers.push(a)\n  return numbers\n}',
      typescript:
        'function fibonacci(n: number): bigint[] {\n  const numbers: bigint[] = []\n  for (let [a, b] = [0n, 1n]; numbers.length < n; [a, b] = [b, a + b]) numbers.push(a)\n  return numbers\n}',
      go: 'func fibonacci(n int) []uint64 {\n\tnumbers := make([]uint64, 0, n)\n\tvar a, b uint64 = 0, 1\n\tfor range n {\n\t\tnumbers = append(numbers, a)\n\t\ta, b = b, a+b\n\t}\n\treturn numbers\n}',
    },
  },
  {
    asked: /\bpalindrome\b/i,
    title: 'Whether a text reads the same backwards, ignoring case and punctuation.',
    code: {
      python:
        'def is_palindrome(text: str) -> bool:\n    letters = [char.casefold() for char in text if char.isalnum()]\n    return letters == letters[::-1]',
      javascript:
        "function isPalindrome(text) {\n  const letters = [...text.toLowerCase()].filter((char) => /[\\p{L}\\p{N}]/u.test(char))\n  return letters.join('') === letters.toReversed().join('')\n}",
      typescript:
        "function isPalindrome(text: string): boolean {\n  const letters = [...text.toLowerCase()].filter((char) => /[\\p{L}\\p{N}]/u.test(char))\n  return letters.join('') === letters.toReversed().join('')\n}",
    },
  },
  {
    asked: /\brevers\w*\b.*\b(?:string|text|word)\b|\b(?:string|text)\b.*\brevers/i,
    title: 'Reverses a string, code point by code point.',
    code: {
      python: 'def reverse(text: str) -> str:\n    return text[::-1]',
      javascript: "function reverse(text) {\n  return [...text].reverse().join('')\n}",
      typescript: "function reverse(text: string): string {\n  return [...text].reverse().join('')\n}",
      go: 'func reverse(text string) string {\n\trunes := []rune(text)\n\tslices.Reverse(runes)\n\treturn string(runes)\n}',
    },
  },
  {
    asked: /\b(?:is[_ ]?prime|prime numbers?|primes?)\b/i,
    title: 'Whether a whole number is prime.',
    code: {
      python:
        'def is_prime(n: int) -> bool:\n    if n < 2:\n        return False\n    return all(n % d for d in range(2, int(n**0.5) + 1))',
      javascript:
        'function isPrime(n) {\n  if (n < 2) return false\n  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false\n  return true\n}',
      typescript:
        'function isPrime(n: number): boolean {\n  if (n < 2) return false\n  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false\n  return true\n}',
    },
  },
  {
    asked:
      /\badds?\b.*\b(?:two|numbers?|integers?)\b|\bsum of (?:two|a list|an array)\b|\bsums?\b.*\b(?:list|array|numbers)\b/i,
    title: 'The sum of its numbers.',
    code: {
      python: 'def add(*numbers: float) -> float:\n    return sum(numbers)',
      javascript: 'function add(...numbers) {\n  return numbers.reduce((total, number) => total + number, 0)\n}',
      typescript:
        'function add(...numbers: number[]): number {\n  return numbers.reduce((total, number) => total + number, 0)\n}',
    },
  },
  {
    asked: /\bdebounce\b/i,
    title: 'Calls the function once the calls have paused for `waitMs`.',
    code: {
      javascript:
        'function debounce(call, waitMs) {\n  let timer\n  return (...args) => {\n    clearTimeout(timer)\n    timer = setTimeout(() => call(...args), waitMs)\n  }\n}',
      typescript:
        'function debounce<Args extends unknown[]>(call: (...args: Args) => void, waitMs: number) {\n  let timer: ReturnType<typeof setTimeout> | undefined\n  return (...args: Args): void => {\n    clearTimeout(timer)\n    timer = setTimeout(() => call(...args), waitMs)\n  }\n}',
    },
  },
  {
    asked: /\b(?:http|web) ?server\b/i,
    title: 'A small HTTP server on port 8000.',
    code: {
      python:
        'from http.server import BaseHTTPRequestHandler, HTTPServer\n\n\nclass Handler(BaseHTTPRequestHandler):\n    def do_GET(self):\n        body = b"Hello"\n        self.send_response(200)\n        self.send_header("Content-Length", str(len(body)))\n        self.end_headers()\n        self.wfile.write(body)\n\n\nHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()',
      javascript:
        "import { createServer } from 'node:http'\n\ncreateServer((request, response) => response.end('Hello')).listen(8000, '127.0.0.1')",
      typescript:
        "import { createServer } from 'node:http'\n\ncreateServer((_request, response) => response.end('Hello')).listen(8000, '127.0.0.1')",
      go: 'package main\n\nimport (\n\t"fmt"\n\t"log"\n\t"net/http"\n)\n\nfunc main() {\n\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "Hello") })\n\tlog.Fatal(http.ListenAndServe("127.0.0.1:8000", nil))\n}',
    },
  },
]
