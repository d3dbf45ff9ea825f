import { boot } from '../../shell/boot'
import { type Api, type Body, type Common, PATHS, PLAIN } from './apis'

/** Converts a request of `POST /completions` or `POST /chat/completions` to the playground's initial state. */
export function openedOf(request: Body | null): { prompt: string; mode: string; common: Partial<Common> } | null {
  if (!request) return null
  const {
    prompt,
    mode,
    model,
    temperature,
    skills,
    persona,
    response_format: format,
    ...given
  } = request as {
    messages?: { role: string; content: unknown }[]
    prompt?: string
    mode?: string
    model?: string
    temperature?: number
    skills?: string[]
    persona?: { system_prompt?: string }
    tools?: ToolSent[]
    response_format?: { type: string; json_schema?: { schema?: object } }
  }
  const { messages = [], tools = [] } = given
  const said = (role: string) => textOf(messages.findLast((message) => message.role === role)?.content)
  const schema = format?.json_schema?.schema
  return {
    prompt: prompt ?? said('user'),
    mode: mode ?? model ?? 'auto',
    common: {
      api: messages.length ? 'chat' : 'completions',
      system: persona?.system_prompt ?? said('system'),
      temperature: temperature === undefined ? '' : String(temperature),
      skills: skills?.join(' ') ?? '',
      tools: tools.flatMap(({ function: it }) =>
        it ? [{ name: it.name, description: it.description ?? '', schema: written(it.parameters) }] : [],
      ),
      servers: tools.flatMap(({ server_label: label, server_url: url }) => (label && url ? [{ label, url }] : [])),
      format: format?.type === 'json_schema' ? 'schema' : format?.type === 'json_object' ? 'json' : PLAIN.format,
      schema: schema ? written(schema) : '',
    },
  }
}

type ToolSent = {
  function?: { name: string; description?: string; parameters?: object }
  server_label?: string
  server_url?: string
}
const written = (value: object | undefined) => JSON.stringify(value ?? {}, null, 2)
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map(({ text }: { text?: string }) => text ?? '').join('')
      : ''

/** A value in Python syntax, in the same order. */
function python(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  return `{${Object.entries(value as object)
    .map(([name, part]) => `${JSON.stringify(name)}: ${python(part)}`)
    .join(', ')}}`
}

/** Programs that send exactly this body. */
export const samplesOf = (api: Api, body: Body) => {
  const url = `${boot.public_url?.replace(/\/$/, '') || location.origin}/api/v1${PATHS[api]}`
  const json = JSON.stringify(body)
  return {
    curl: `curl --no-buffer ${url} \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", `'\\''`)}'`,
    TypeScript: `const answer = await fetch('${url}', {
  method: 'POST',
  headers: { authorization: \`Bearer \${process.env.SVC_API_KEY}\`, 'content-type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
})
for await (const piece of answer.body) process.stdout.write(piece)`,
    Python: `import json, os, urllib.request

body = ${python(body)}
request = urllib.request.Request(
    "${url}",
    data=json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['SVC_API_KEY']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer:
    for line in answer:
        print(line.decode(), end="")`,
  }
}
