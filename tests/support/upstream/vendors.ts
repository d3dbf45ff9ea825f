import { type Dialect, frame, type Json, type ScriptedAnswer, textOf } from './dialect'
import { faultInContents, faultInInput, faultInMessages } from './pairs'

type Message = { prompt: string; turn: number }

/** The last user text and the rounds of tool calls after it; tool results are user messages in these APIs too. */
function messageOf(items: Json[], textIn: (item: Json) => string, callsIn: (item: Json) => boolean): Message {
  const at = items.findLastIndex((item) => item.role === 'user' && textIn(item) !== '')
  return { prompt: at < 0 ? '' : textIn(items[at]!), turn: items.slice(at + 1).filter(callsIn).length }
}

const has = (parts: unknown, test: (part: Json) => boolean): boolean => Array.isArray(parts) && parts.some(test)

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }

const block = (answer: ScriptedAnswer) =>
  answer.toolCalls.length
    ? answer.toolCalls.map(({ id, name, arguments: args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) }))
    : [{ type: 'text', text: answer.text }]

const event = (type: string, more: Json = {}) => frame({ type, ...more }, type)

const statedInMessages = (body: Json) =>
  messageOf(
    body.messages as Json[],
    ({ content }) => textOf(content).trim(),
    ({ content }) => has(content, ({ type }) => type === 'tool_use'),
  )

/** The messages API. */
export const messagesDialect: Dialect = {
  base: '/v1',
  faultOf: faultInMessages,
  wantsStream: (_path, body) => body.stream === true,
  promptOf: (body) => statedInMessages(body).prompt,
  turnOf: (body) => statedInMessages(body).turn,
  plain: (answer) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: block(answer),
    stop_reason: STOP_REASONS[answer.finish],
    stop_sequence: null,
    usage: { input_tokens: answer.usage?.prompt_tokens, output_tokens: answer.usage?.completion_tokens },
  }),
  open: () =>
    event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'scripted',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 11, output_tokens: 1 },
      },
    }) + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  delta: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  close: (answer) =>
    [
      event('content_block_stop', { index: 0 }),
      ...answer.toolCalls.map(({ id, name, arguments: args }, at) =>
        [
          event('content_block_start', { index: at + 1, content_block: { type: 'tool_use', id, name, input: {} } }),
          event('content_block_delta', { index: at + 1, delta: { type: 'input_json_delta', partial_json: args } }),
          event('content_block_stop', { index: at + 1 }),
        ].join(''),
      ),
      event('message_delta', {
        delta: { stop_reason: STOP_REASONS[answer.finish], stop_sequence: null },
        usage: { output_tokens: answer.usage?.completion_tokens },
      }),
      event('message_stop'),
    ].join(''),
}

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' }

const candidate = (parts: unknown[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
})

const calls = ({ toolCalls }: ScriptedAnswer) =>
  toolCalls.map(({ name, arguments: args }) => ({ functionCall: { name, args: JSON.parse(args) } }))

const generateUsage = ({ usage }: ScriptedAnswer) => ({
  usageMetadata: { promptTokenCount: usage?.prompt_tokens, candidatesTokenCount: usage?.completion_tokens },
})

const statedInContents = (body: Json) =>
  messageOf(
    body.contents as Json[],
    ({ parts }) => textOf(parts).trim(),
    ({ parts }) => has(parts, (part) => 'functionCall' in part),
  )

/** The generate-content API. */
export const generateDialect: Dialect = {
  base: '/v1beta',
  faultOf: faultInContents,
  wantsStream: (path) => path.includes(':streamGenerateContent'),
  promptOf: (body) => statedInContents(body).prompt,
  turnOf: (body) => statedInContents(body).turn,
  plain: (answer) => ({
    ...candidate(answer.toolCalls.length ? calls(answer) : [{ text: answer.text }], FINISH_REASONS[answer.finish]),
    ...generateUsage(answer),
  }),
  open: () => '',
  delta: (text) => frame(candidate([{ text }])),
  close: (answer) => frame({ ...candidate(calls(answer), FINISH_REASONS[answer.finish]), ...generateUsage(answer) }),
}

const INCOMPLETE: Partial<Record<ScriptedAnswer['finish'], string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

const response = (answer: ScriptedAnswer, output: unknown[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'scripted',
  status: INCOMPLETE[answer.finish] ? 'incomplete' : 'completed',
  output,
  incomplete_details: INCOMPLETE[answer.finish] ? { reason: INCOMPLETE[answer.finish] } : null,
  usage: { input_tokens: answer.usage?.prompt_tokens, output_tokens: answer.usage?.completion_tokens },
})

const message = (text: string) => ({
  type: 'message',
  id: 'item_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

const functionCalls = ({ toolCalls }: ScriptedAnswer) =>
  toolCalls.map(({ id, name, arguments: args }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: args,
    status: 'completed',
  }))

/** Parallel calls are consecutive items, so a turn begins where a call follows another kind of item. */
function statedInInput(body: Json): Message {
  const items = body.input as Json[]
  const isCall = (item: Json | undefined) => item?.type === 'function_call'
  return messageOf(
    items,
    ({ content }) => textOf(content).trim(),
    (item) => isCall(item) && !isCall(items[items.indexOf(item) - 1]),
  )
}

/** The responses API. */
export const responsesDialect: Dialect = {
  base: '/v1',
  faultOf: faultInInput,
  wantsStream: (_path, body) => body.stream === true,
  promptOf: (body) => statedInInput(body).prompt,
  turnOf: (body) => statedInInput(body).turn,
  plain: (answer) => response(answer, answer.toolCalls.length ? functionCalls(answer) : [message(answer.text)]),
  open: () =>
    event('response.created', { response: { id: 'resp_1', created_at: 1, model: 'scripted' } }) +
    event('response.output_item.added', {
      output_index: 0,
      item: { ...message(''), status: 'in_progress', content: [] },
    }),
  delta: (text) =>
    event('response.output_text.delta', { item_id: 'item_1', output_index: 0, content_index: 0, delta: text }),
  close: (answer) =>
    [
      event('response.output_item.done', { output_index: 0, item: message(answer.text) }),
      ...functionCalls(answer).flatMap((item, at) => [
        event('response.output_item.added', {
          output_index: at + 1,
          item: { ...item, arguments: '', status: 'in_progress' },
        }),
        event('response.function_call_arguments.delta', {
          item_id: item.id,
          output_index: at + 1,
          delta: item.arguments,
        }),
        event('response.output_item.done', { output_index: at + 1, item }),
      ]),
      INCOMPLETE[answer.finish]
        ? event('response.incomplete', { response: response(answer, []) })
        : event('response.completed', { response: response(answer, []) }),
    ].join(''),
}
