import type { ApiAnswer, Backend } from './mcp-schema'

type Input = Record<string, unknown>
/** JSON Schema of one argument. The value must be one of `enum`. */
type Member = { type: string; description?: string; enum?: readonly string[]; items?: object; default?: string }
type Tool = {
  name: string
  description: string
  inputSchema: { type: 'object'; properties: Record<string, Member>; required?: string[] }
  /** The text of the result. Throws {@link ToolInputError} for an error of the API. */
  run(input: Input, backend: Backend): Promise<string>
}

/** An error answer of the API in place of a result. */
export class ToolInputError extends Error {
  override name = 'Refused'
}

const POLL_MS = 3_000
const MAX_POLLS = 40

const text = (description: string) => ({ type: 'string', description })
const among = (values: readonly string[], description: string) => ({ type: 'string', enum: values, description })
const PROMPT = text('The prompt')

/** The tools of docs/api.md 23.3, in its order. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'svc_complete',
    description: 'Answers a prompt. Without a mode, the server chooses one. Skills and earlier turns can be used.',
    inputSchema: {
      type: 'object',
      properties: {
        prompt: PROMPT,
        mode: among(['auto', 'fast', 'think', 'code', 'research', 'roast'], 'Mode of the answer'),
        skills: { type: 'array', items: { type: 'string' }, description: 'Slugs of installed skills' },
        conversation_id: text('Continues this conversation'),
      },
      required: ['prompt'],
    },
    async run({ prompt, mode, skills, conversation_id }, { ask, project }) {
      const { persona, tools, temperature, metadata, defaultMode = 'auto' } = project
      const body = taken(
        await ask('POST', '/completions', {
          prompt,
          mode: mode ?? defaultMode,
          skills: skills ?? project.skills ?? [],
          ...given({ conversation_id, persona, tools, temperature, metadata }),
        }),
      )
      const later = body.conversation_id ? `\n\nconversation_id: ${body.conversation_id}` : ''
      return `${body.content ?? ''}${filesOf(body.artifacts)}${later}`
    },
  },
  {
    name: 'svc_code',
    description: 'Writes code: a function, a program or a project of several files.',
    inputSchema: {
      type: 'object',
      properties: { prompt: PROMPT, language: text('Such as typescript'), framework: text('Such as react') },
      required: ['prompt'],
    },
    async run({ prompt, language, framework }, { ask }) {
      const body = taken(await ask('POST', '/code', { prompt, ...given({ language, framework }) }))
      return `${body.content ?? ''}${filesOf(body.artifacts)}`
    },
  },
  {
    name: 'svc_research',
    description: 'Researches a question in many sources and writes a report with citations. Takes up to two minutes.',
    inputSchema: {
      type: 'object',
      properties: { prompt: PROMPT, depth: text('basic (default), or deeper where the server offers it') },
      required: ['prompt'],
    },
    async run({ prompt, depth = 'basic' }, { ask, sleep }) {
      const { job_id } = taken(await ask('POST', '/research', { prompt, depth }))
      for (let look = 0; look < MAX_POLLS; look++) {
        await sleep(POLL_MS)
        const job = taken(await ask('GET', `/jobs/${encodeURIComponent(job_id)}`))
        if (job.status === 'completed') return typeof job.result === 'string' ? job.result : readable(job.result)
        if (job.status === 'failed' || job.status === 'cancelled') {
          throw new ToolInputError(
            `The research ${job.status}: ${job.error?.message ?? job.error ?? 'for an unknown reason'}`,
          )
        }
      }
      return `The research is not done after two minutes. It continues as job ${job_id}.`
    },
  },
  {
    name: 'svc_image',
    description: 'Creates a picture from a description and returns its address.',
    inputSchema: {
      type: 'object',
      properties: {
        prompt: PROMPT,
        style: text('Such as watercolour'),
        aspect_ratio: among(['1:1', '16:9', '9:16', '4:3', '3:4'], 'Width to height'),
      },
      required: ['prompt'],
    },
    async run({ prompt, style, aspect_ratio }, { ask }) {
      const { images = [] } = taken(await ask('POST', '/images', { prompt, ...given({ style, aspect_ratio }) }))
      return (images as { url?: string }[]).map(({ url }) => url ?? '').join('\n')
    },
  },
  {
    name: 'svc_document',
    description: 'Writes a document and returns the address of its file.',
    inputSchema: {
      type: 'object',
      properties: { prompt: PROMPT, format: { ...text('Such as pdf or docx'), default: 'pdf' } },
      required: ['prompt'],
    },
    async run({ prompt, format = 'pdf' }, { ask }) {
      const { title, download_url, content } = taken(await ask('POST', '/documents', { prompt, format }))
      return [title, download_url ?? content].filter(Boolean).join('\n')
    },
  },
  {
    name: 'svc_skill_list',
    description: 'Lists installed skills, or those of the marketplace.',
    inputSchema: {
      type: 'object',
      properties: { filter: among(['installed', 'marketplace'], 'Which ones') },
    },
    async run({ filter }, { ask }) {
      const query = filter === undefined ? '' : `?filter=${encodeURIComponent(String(filter))}`
      const { skills } = taken(await ask('GET', `/skills${query}`))
      return readable(skills)
    },
  },
  {
    name: 'svc_skill_install',
    description: 'Installs a skill of the marketplace for this account.',
    inputSchema: { type: 'object', properties: { skill_id: text('Id of the skill') }, required: ['skill_id'] },
    async run({ skill_id }, { ask }) {
      taken(await ask('POST', '/skills', { skillId: skill_id }))
      return `Skill ${skill_id} is installed.`
    },
  },
  {
    name: 'svc_status',
    description: 'Shows whether the server and its parts work.',
    inputSchema: { type: 'object', properties: {} },
    run: async (_, { ask }) => readable((await ask('GET', '/health')).body),
  },
]

/** The resources of docs/api.md 23.3. Each returns the JSON answer of a route. */
export const RESOURCES = [
  { uri: 'svc://models', name: 'Models', path: '/models' },
  { uri: 'svc://skills/installed', name: 'Installed skills', path: '/skills?filter=installed' },
  { uri: 'svc://health', name: 'Health', path: '/health' },
] as const

const readable = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

/** The body of a success. Otherwise throws {@link ToolInputError} with the API's own message. */
function taken({ ok, status, body }: ApiAnswer) {
  if (ok) return body
  const { message, code } = body?.error ?? {}
  throw new ToolInputError(message ? `${message} (${code})` : `The server answered with status ${status}.`)
}

const given = (members: Input): Input =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))

function filesOf(artifacts: readonly { name?: string; filename?: string; url?: string }[] = []): string {
  const lines = artifacts.map(({ name, filename, url }) => [filename ?? name, url].filter(Boolean).join(': '))
  return lines.length ? `\n\n${lines.join('\n')}` : ''
}
