/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** One request in three languages, ready to paste. The key comes from SVC_API_KEY. */
export type Samples = { curl: string; typescript: string; python: string }

type Input = {
  method: string
  /** With its ids filled in, and a query if one is needed. */
  url: string
  keyed: boolean
  /** True if the body is a form with a file. */
  uploads: boolean
  /** True if the answer is a stream of events. */
  streams: boolean
  /** Media type of a file answer. Null for others. */
  download: string | null
  /** Undefined without a body. */
  body: Json | undefined
}

/** File names of downloads in the samples. */
const FILES: Record<string, string> = { 'audio/mpeg': 'speech.mp3', 'text/csv': 'export.csv' }

/** The samples of one route. */
export const samplesOf = (input: Input): Samples => (input.uploads ? uploads(input.url) : plain(input))

function plain({ method, url, keyed, streams, download, body }: Input): Samples {
  const file = download ? (FILES[download] ?? 'file') : null
  const flags = [
    method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`,
    streams ? ' -N' : '',
    file ? ` -o ${file}` : '',
  ].join('')
  const curl = [
    `curl -sS${flags} ${shellWord(url)}`,
    ...(keyed ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
  return {
    curl,
    typescript: plainTypeScript({ url, method, keyed, streams, body, file }),
    python: plainPython({ url, method, keyed, streams, body, file }),
  }
}

type Call = Pick<Input, 'url' | 'method' | 'keyed' | 'streams' | 'body'> & { file: string | null }

function plainTypeScript({ url, method, keyed, streams, body, file }: Call): string {
  const headers = [
    ...(keyed ? ["    Authorization: 'Bearer ' + process.env.SVC_API_KEY,"] : []),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length ? ['  headers: {', ...headers, '  },'] : []),
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`]),
  ]
  const call = options.length
    ? [`await fetch(${scriptWord(url)}, {`, ...options, '})'].join('\n')
    : `await fetch(${scriptWord(url)})`
  return [`const answer = ${call}`, ...shownInTypeScript(file, streams)].join('\n')
}

function shownInTypeScript(file: string | null, streams: boolean): string[] {
  if (file) return [`await Bun.write('${file}', answer)`]
  if (!streams) return ['console.log(answer.status, await answer.json())']
  return ['for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) process.stdout.write(piece)']
}

function plainPython({ url, method, keyed, streams, body, file }: Call): string {
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
    file ? `    open("${file}", "wb").write(answer.read())` : streams ? PYTHON_STREAMS : PYTHON_SHOWS,
  ].join('\n')
}

const PYTHON_KEY = '        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],'
const PYTHON_STREAMS = '    for line in answer:\n        print(line.decode(), end="", flush=True)'
const PYTHON_SHOWS = '    print(answer.status, json.load(answer))'

/** Uploads a recording as a part of a form. Python's own library has no support for forms. */
function uploads(url: string): Samples {
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

/** A value in Python syntax. */
function pythonOf(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}: ${pythonOf(part)}`)
    .join(', ')}}`
}
