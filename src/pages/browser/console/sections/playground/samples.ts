import { boot } from '../../shell/boot'

export type Settings = { mode: string; system: string; temperature: string; skills: string }
export type Turn = { role: 'user' | 'assistant'; content: string }

/** What is sent for a prompt. The code beside the playground is made from the same. */
export function bodyOf({ mode, system, temperature, skills }: Settings, turns: readonly Turn[], prompt: string) {
  const slugs = skills.split(/[\s,]+/).filter(Boolean)
  return {
    prompt,
    mode,
    stream: true,
    ...(turns.length ? { conversation: { messages: turns } } : {}),
    ...(system.trim() ? { persona: { system_prompt: system.trim() } } : {}),
    ...(temperature ? { temperature: Number(temperature) } : {}),
    ...(slugs.length ? { skills: slugs } : {}),
  }
}
export type Body = ReturnType<typeof bodyOf>

type Message = { role: string; content: unknown }

/** What the playground begins with for a request of `POST /completions` or `POST /chat/completions`. */
export function openedOf(request: Record<string, unknown> | null) {
  if (!request) return null
  const {
    messages = [],
    prompt,
    mode,
    temperature,
    skills,
    persona,
  } = request as {
    messages?: Message[]
    prompt?: string
    mode?: string
    temperature?: number
    skills?: string[]
    persona?: { system_prompt?: string }
  }
  const said = (role: string) => messages.findLast((message) => message.role === role)?.content
  const textOf = (content: unknown) => (typeof content === 'string' ? content : '')
  return {
    prompt: prompt ?? textOf(said('user')),
    mode: mode ?? 'auto',
    common: {
      system: persona?.system_prompt ?? textOf(said('system')),
      temperature: temperature === undefined ? '' : String(temperature),
      skills: skills?.join(' ') ?? '',
    },
  }
}

const base = () => boot.public_url?.replace(/\/$/, '') || location.origin

/** A value as Python writes it, in the same order. */
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
export const samplesOf = (body: Body) => {
  const url = `${base()}/api/v1/completions`
  const json = JSON.stringify(body)
  return {
    curl: `curl --no-buffer ${url} \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", `'\\''`)}'`,
    TypeScript: `const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.SVC_API_KEY}\`,
    'content-type': 'application/json',
  },
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
