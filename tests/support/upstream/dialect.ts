import { faultInChat } from './pairs'

/** The wire format of one family of upstreams: where requests carry the prompt, and the form of answers. */
export type Dialect = {
  /** Path prefix before the path the driver adds, e.g. `/v1`. */
  base: string
  wantsStream(path: string, body: Json): boolean
  promptOf(body: Json): string
  /** How many rounds of tool calls followed that message. */
  turnOf(body: Json): number
  /** Why a real server would reject the request with 400; null when it would not. */
  faultOf(body: Json): string | null
  plain(answer: ScriptedAnswer): unknown
  /** The raw text of a stream: its opening, one piece of text, its end. */
  open(thoughts?: string): string
  delta(text: string): string
  close(answer: ScriptedAnswer): string
}

export type Json = Record<string, unknown>

export type ScriptedAnswer = {
  text: string
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  usage: { prompt_tokens?: unknown; completion_tokens?: unknown; [detail: string]: unknown } | null
  thoughts?: string | undefined
  toolCalls: { id: string; name: string; arguments: string }[]
}

export const frame = (data: unknown, event?: string): string =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** The text of a message whose content is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: Json) => (typeof part.text === 'string' ? part.text : '')).join(' ')
}

const call = ({ id, name, arguments: args }: ScriptedAnswer['toolCalls'][number], index: number) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})

const chunk = (choice: unknown, more: Json = {}) =>
  frame({ id: 'up_1', object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [choice], ...more })

/** Chat completions, for the `compat` driver. */
export const chatDialect: Dialect = {
  base: '/v1',
  faultOf: faultInChat,
  wantsStream: (_path, body) => body.stream === true,
  promptOf(body) {
    return textOf((body.messages as Json[]).filter((message) => message.role === 'user').at(-1)?.content)
  },
  turnOf(body) {
    const messages = body.messages as Json[]
    const requested = messages.findLastIndex(({ role }) => role === 'user')
    return messages.slice(requested + 1).filter(({ tool_calls }) => Array.isArray(tool_calls)).length
  },
  plain: ({ text, finish, usage, toolCalls, thoughts }) => ({
    id: 'up_1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text || null,
          ...(thoughts && { reasoning_content: thoughts }),
          ...(toolCalls.length && { tool_calls: toolCalls.map(call) }),
        },
        finish_reason: finish,
      },
    ],
    ...(usage && { usage }),
  }),
  open: (thoughts) =>
    chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }) +
    (thoughts ? chunk({ index: 0, delta: { reasoning_content: thoughts }, finish_reason: null }) : ''),
  delta: (text) => chunk({ index: 0, delta: { content: text }, finish_reason: null }),
  close: ({ finish, usage, toolCalls }) =>
    [
      ...toolCalls.map((each, index) =>
        chunk({ index: 0, delta: { tool_calls: [call(each, index)] }, finish_reason: null }),
      ),
      chunk({ index: 0, delta: {}, finish_reason: finish }),
      usage ? frame({ id: 'up_1', object: 'chat.completion.chunk', choices: [], usage }) : '',
      frame('[DONE]'),
    ].join(''),
}

const likelyOf = (text: string) =>
  (text.match(/\s*\S+/g) ?? []).map((token) => ({ token, logprob: -0.5, bytes: null, top_logprobs: [] }))

/** A build of an upstream, which would name its vendor. */
export const BUILD = 'acme-vendor-7'

const BUILT = { system_fingerprint: BUILD }

/** The same from an upstream that says how likely each word was, asked or not, and which build it is. */
export const likelyDialect: Dialect = {
  ...chatDialect,
  plain(answer) {
    const body = chatDialect.plain(answer) as { choices: Json[] }
    const [choice] = body.choices
    return { ...body, ...BUILT, choices: [{ ...choice, logprobs: { content: likelyOf(answer.text) } }] }
  },
  delta: (text) =>
    chunk({ index: 0, delta: { content: text }, logprobs: { content: likelyOf(text) }, finish_reason: null }, BUILT),
}
