import type { Json } from './bodies'
import type { Operation } from './operations'

/** One request in three languages, each as it may be pasted; the key comes from SVC_API_KEY. */
export type Samples = { curl: string; typescript: string; python: string }

type Order = {
  operation: Operation
  /** The address of the API, such as `https://svc.example/api/v1`. */
  base: string
  /** The path with its ids filled in, and a query if one is needed. */
  path: string
  /** Undefined without a body. */
  body: Json | undefined
}

/** What a download is called in the samples. */
const FILES: Record<string, string> = { 'audio/mpeg': 'speech.mp3', 'text/csv': 'export.csv' }

/** The samples of one route. */
export function samplesOf(order: Order): Samples {
  return order.operation.body?.type === 'multipart/form-data' ? uploads(order) : plain(order)
}

function plain({ operation: { method, credential, streams, download }, base, path, body }: Order): Samples {
  const url = `${base}${path}`
  const file = download ? (FILES[download] ?? 'file') : null
  const flags = [
    method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`,
    streams && method === 'GET' ? ' -N' : '',
    file ? ` -o ${file}` : '',
  ].join('')
  const curl = [
    `curl -sS${flags} ${shellWord(url)}`,
    ...(credential ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
  return {
    curl,
    typescript: plainTypeScript({ url, method, keyed: !!credential, body, file }),
    python: plainPython({ url, method, keyed: !!credential, body, file }),
  }
}

type Call = { url: string; method: string; keyed: boolean; body: Json | undefined; file: string | null }

function plainTypeScript({ url, method, keyed, body, file }: Call): string {
  const headers = [
    ...(keyed ? ["    Authorization: 'Bearer ' + process.env.SVC_API_KEY,"] : []),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length ? ['  headers: {', ...headers, '  },'] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),`]),
  ]
  const call = options.length
    ? [`await fetch(${scriptWord(url)}, {`, ...options, '})'].join('\n')
    : `await fetch(${scriptWord(url)})`
  const shown = file ? [`await Bun.write('${file}', answer)`] : ['console.log(answer.status, await answer.json())']
  return [`const answer = ${call}`, ...shown].join('\n')
}

function plainPython({ url, method, keyed, body, file }: Call): string {
  const headers = [
    ...(keyed ? [PYTHON_KEY] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
  ]
  return [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    ...(headers.length ? ['    headers={', ...headers, '    },'] : []),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonOf(body)}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    file ? `    open("${file}", "wb").write(answer.read())` : PYTHON_SHOWS,
  ].join('\n')
}

const PYTHON_KEY = '        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],'
const PYTHON_SHOWS = '    print(answer.status, json.load(answer))'

/** A recording goes as a part of a form, which Python's own library leaves to whoever sends it. */
function uploads({ base, path }: Order): Samples {
  const url = `${base}${path}`
  return {
    curl: `curl -sS ${shellWord(url)} \\\n  -H "Authorization: Bearer $SVC_API_KEY" \\\n  -F file=@speech.mp3`,
    typescript: [
      "import { readFile } from 'node:fs/promises'",
      '',
      'const form = new FormData()',
      "form.append('file', new Blob([await readFile('speech.mp3')]), 'speech.mp3')",
      `const answer = await fetch(${scriptWord(url)}, {`,
      "  method: 'POST',",
      "  headers: { Authorization: 'Bearer ' + process.env.SVC_API_KEY },",
      '  body: form,',
      '})',
      'console.log(answer.status, await answer.json())',
    ].join('\n'),
    python: [
      'import json, os, urllib.request',
      '',
      `head = '--svc\\r\\nContent-Disposition: form-data; name="file"; filename="speech.mp3"\\r\\n\\r\\n'`,
      'recording = open("speech.mp3", "rb").read()',
      'request = urllib.request.Request(',
      `    ${JSON.stringify(url)},`,
      '    headers={',
      PYTHON_KEY,
      '        "Content-Type": "multipart/form-data; boundary=svc",',
      '    },',
      '    data=head.encode() + recording + b"\\r\\n--svc--\\r\\n",',
      ')',
      'with urllib.request.urlopen(request) as answer:',
      PYTHON_SHOWS,
    ].join('\n'),
  }
}

const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const scriptWord = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const indented = (text: string): string => text.replaceAll('\n', '\n  ')

/** A value as Python writes it. */
function pythonOf(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}: ${pythonOf(part)}`)
    .join(', ')}}`
}
