import { type ApiAnswer, type ApiRequest, type Call, type Format, WEATHER } from '../suites/compat'
import { readFrames } from '../support/frames'

const PARAMETERS = { description: 'Gets the weather.', parameters: WEATHER }
const fileUrl = ({ base64 }: { base64: string }) => `data:application/octet-stream;base64,${base64}`
const pdfSource = ({ base64 }: { base64: string }) => ({ type: 'base64', media_type: 'application/pdf', data: base64 })
const dataUrl = (image: string) => `data:image/png;base64,${image}`
/** The text alone where nothing is beside it. */
const contentOf = (words: { type: string; text: string }, beside: (object | string | undefined)[]) =>
  beside.some(Boolean) ? [words, ...beside.filter(Boolean)] : words.text

/** Chat completions. */
export const chat: Format = {
  path: '/chat/completions',
  ends: { stop: 'stop', calls: 'tool_calls', filter: 'content_filter', limit: 'length', sequence: 'stop' },
  down: 503,
  streaming: { stream: true, stream_options: { include_usage: true } },
  ignored: { web_search_options: {}, audio: {} },

  send({ prompt, model = 'svc-1-flash', system, calls, ...request }: ApiRequest) {
    const { tools, choice, schema, image, conversation, limit, file, stop, reasons } = request
    return {
      model,
      messages: [
        ...(system ? [{ role: 'system', content: system }] : []),
        {
          role: 'user',
          content: contentOf({ type: 'text', text: prompt }, [
            image && { type: 'image_url', image_url: { url: dataUrl(image) } },
            file && { type: 'file', file: { filename: file.name, file_data: fileUrl(file) } },
          ]),
        },
        ...(calls
          ? [
              {
                role: 'assistant',
                content: null,
                tool_calls: calls.map(({ id, name, arguments: args }) => ({
                  id,
                  type: 'function',
                  function: { name, arguments: args },
                })),
              },
              ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
            ]
          : []),
      ],
      ...(tools ? { tools: tools.map((name) => ({ type: 'function', function: { name, ...PARAMETERS } })) } : {}),
      ...(choice
        ? { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } } }
        : {}),
      ...(schema
        ? { response_format: { type: 'json_schema', json_schema: { name: 'form', strict: true, schema } } }
        : {}),
      ...(conversation ? { conversation_id: conversation } : {}),
      ...(limit ? { max_completion_tokens: limit } : {}),
      ...(stop ? { stop } : {}),
      ...(reasons ? { reasoning_effort: 'low' } : {}),
    }
  },

  read({ choices, usage, svc_metadata }): ApiAnswer {
    const { message, finish_reason } = choices[0]
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map(callOf),
      refusal: message.refusal ?? null,
      ended: finish_reason,
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      warnings: svc_metadata.warnings ?? [],
      cached: usage.prompt_tokens_details.cached_tokens,
      thoughts: message.reasoning_content ?? '',
    }
  },

  readStream(text) {
    const chunks = readFrames(text).flatMap(({ data }) => (data === '[DONE]' ? [] : [data]))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))
    const calls: Call[] = []
    for (const { index, id, function: called } of deltas.flatMap(({ tool_calls }) => tool_calls ?? [])) {
      calls[index] ??= { id, name: called.name, arguments: '' }
      calls[index]!.arguments += called.arguments ?? ''
    }
    if (deltas.some((delta) => 'tool_calls' in delta && !delta.tool_calls?.length))
      throw new Error('no calls in a delta')
    const last = chunks.findLast(({ svc_metadata }) => svc_metadata)
    const usage = chunks.findLast((chunk) => chunk.usage)?.usage
    return {
      text: deltas.map(({ content }) => content ?? '').join(''),
      calls,
      refusal: deltas.map(({ refusal }) => refusal ?? '').join('') || null,
      ended: chunks.findLast(({ choices }) => choices[0]?.finish_reason).choices[0].finish_reason,
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      warnings: last.svc_metadata.warnings ?? [],
      cached: usage.prompt_tokens_details.cached_tokens,
      thoughts: deltas.map(({ reasoning_content }) => reasoning_content ?? '').join(''),
    }
  },

  error: ({ error }) => error,
  streamError: (text) => readFrames(text).find(({ data }) => data.error)!.data.error,
}

const callOf = ({ id, function: { name, arguments: args } }: { id: string; function: Omit<Call, 'id'> }): Call => ({
  id,
  name,
  arguments: args,
})

/** Responses. */
export const responses: Format = {
  path: '/responses',
  ends: { stop: 'completed', calls: 'completed', filter: 'content_filter', limit: 'max_output_tokens', sequence: null },
  down: 503,
  streaming: { stream: true },
  ignored: { moderation: {}, context_management: [] },

  send({ prompt, model = 'svc-1-flash', system, calls, ...request }: ApiRequest) {
    const { tools, choice, schema, image, conversation, limit, file, stop, reasons } = request
    return {
      model,
      instructions: system,
      input: [
        {
          role: 'user',
          content: contentOf({ type: 'input_text', text: prompt }, [
            image && { type: 'input_image', detail: 'auto', image_url: dataUrl(image) },
            file && { type: 'input_file', filename: file.name, file_data: fileUrl(file) },
          ]),
        },
        ...(calls ?? []).map(({ id, name, arguments: args }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: args,
        })),
        ...(calls ?? []).map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ],
      ...(tools ? { tools: tools.map((name) => ({ type: 'function', name, ...PARAMETERS, strict: false })) } : {}),
      ...(choice ? { tool_choice: typeof choice === 'string' ? choice : { type: 'function', name: choice.name } } : {}),
      ...(schema ? { text: { format: { type: 'json_schema', name: 'form', strict: true, schema } } } : {}),
      ...(conversation ? { conversation } : {}),
      ...(limit ? { max_output_tokens: limit } : {}),
      ...(stop ? { stop } : {}),
      ...(reasons ? { reasoning: { summary: 'auto' } } : {}),
    }
  },

  read({ output, usage, status, incomplete_details, svc_metadata }): ApiAnswer {
    const items = output as Record<string, string & Record<string, string>[]>[]
    const parts = items.flatMap(({ type, content }) => (String(type) === 'message' ? (content ?? []) : []))
    return {
      text: parts.map(({ text }) => text ?? '').join(''),
      calls: items.flatMap(({ type, call_id, name, arguments: args }) =>
        String(type) === 'function_call' ? [{ id: String(call_id), name: String(name), arguments: String(args) }] : [],
      ),
      refusal: parts.map(({ refusal }) => refusal ?? '').join('') || null,
      ended: incomplete_details?.reason ?? status,
      input: usage.input_tokens,
      output: usage.output_tokens,
      warnings: svc_metadata.warnings ?? [],
      cached: usage.input_tokens_details.cached_tokens,
      thoughts: items
        .flatMap(({ summary }) => summary ?? [])
        .map(({ text }) => text ?? '')
        .join(''),
    }
  },

  readStream(text) {
    const frames = readResponseFrames(text)
    const { type, response } = frames.at(-1)!
    if (!['response.completed', 'response.incomplete'].includes(type)) throw new Error(`the stream ends with ${type}`)
    const answer = responses.read(response)
    const deltas = (name: string) =>
      frames.flatMap((frame) => (frame.type === name ? [String(frame.delta)] : [])).join('')
    if (deltas('response.output_text.delta') !== answer.text) throw new Error('the deltas differ from the text')
    if (deltas('response.function_call_arguments.delta') !== answer.calls.map((call) => call.arguments).join(''))
      throw new Error('the deltas differ from the arguments')
    return answer
  },

  error: ({ error }) => error,
  streamError(text) {
    const { type, response } = readResponseFrames(text).at(-1)!
    if (type !== 'response.failed') throw new Error(`the stream ends with ${type}`)
    return response.error
  },
}

// biome-ignore lint/suspicious/noExplicitAny: events of every shape
type ResponseEvent = { type: string; sequence_number: number; [name: string]: any }

/**
 * The events of a Responses stream, read as strict clients do (docs/api.md 29.6): numbers rise by one from 0, every id
 * was announced, an item ends before the next begins, a text has its part before and is said whole at its end, and
 * every response is whole.
 */
function readResponseFrames(text: string): ResponseEvent[] {
  const frames = text
    .split('\n\n')
    .filter((frame) => frame && !frame.startsWith(':'))
    .map((frame): ResponseEvent => {
      const [, event, data] = /^event: ([a-z_.]+)\ndata: ([^\n\r]+)$/.exec(frame) ?? []
      if (!data) throw new Error(`not a frame: ${frame.slice(0, 200)}`)
      const read = JSON.parse(data) as ResponseEvent
      if (read.type !== event) throw new Error(`${event} holds ${read.type}`)
      return read
    })
  let open: string | null = null
  let part: string | null = null
  for (const [at, frame] of frames.entries()) {
    if (frame.sequence_number !== at) throw new Error(`event ${at} has number ${frame.sequence_number}`)
    if (frame.response && !frame.response.text?.format) throw new Error(`${frame.type} has no text.format`)
    if (frame.response?.usage && !frame.response.usage.output_tokens_details)
      throw new Error('no output_tokens_details')
    if (frame.type === 'response.content_part.added' && frame.part.type === 'output_text') part = ''
    else if (frame.type === 'response.output_text.delta') {
      if (part === null) throw new Error(`the part of "${frame.delta}" was not announced`)
      part += frame.delta
    } else if (frame.type === 'response.output_text.done') {
      if (frame.text !== part) throw new Error(`"${part}" ends as "${frame.text}"`)
      part = null
    } else if (frame.type === 'response.output_item.done' && part !== null) throw new Error(`"${part}" has no end`)
    if (frame.type === 'response.output_item.added') {
      if (open) throw new Error(`${open} is open when ${frame.item.id} begins`)
      open = frame.item.id
    } else if (frame.type === 'response.output_item.done') {
      if (open !== frame.item.id) throw new Error(`${frame.item.id} ends but ${open} is open`)
      open = null
    } else if (frame.item_id && frame.item_id !== open) throw new Error(`${frame.item_id} was not announced`)
  }
  return frames
}

/** Messages. */
export const messages: Format = {
  path: '/messages',
  ends: { stop: 'end_turn', calls: 'tool_use', filter: 'refusal', limit: 'max_tokens', sequence: 'stop_sequence' },
  down: 529,
  streaming: { stream: true },
  ignored: { container: 'container_1', context_management: {} },

  send({ prompt, model = 'svc-1-flash', system, calls, ...request }: ApiRequest) {
    const { tools, choice, schema, image, conversation, limit, file, stop, reasons } = request
    return {
      model,
      max_tokens: limit ?? 4_096,
      ...(system ? { system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }] } : {}),
      messages: [
        {
          role: 'user',
          content: contentOf({ type: 'text', text: prompt }, [
            image && { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
            file && { type: 'document', title: file.name, source: pdfSource(file) },
          ]),
        },
        ...(calls
          ? [
              {
                role: 'assistant',
                content: calls.map(({ id, name, arguments: args }) => ({
                  type: 'tool_use',
                  id,
                  name,
                  input: JSON.parse(args),
                })),
              },
              {
                role: 'user',
                content: calls.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })),
              },
            ]
          : []),
      ],
      ...(tools
        ? { tools: tools.map((name) => ({ name, description: 'Gets the weather.', input_schema: WEATHER })) }
        : {}),
      ...(choice ? { tool_choice: toolChoice(choice) } : {}),
      ...(schema ? { output_config: { format: { type: 'json_schema', schema } } } : {}),
      ...(conversation ? { conversation_id: conversation } : {}),
      ...(stop ? { stop_sequences: [stop] } : {}),
      ...(reasons ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
    }
  },

  read({ content, usage, stop_reason, svc_metadata }): ApiAnswer {
    const blocks = content as {
      type: string
      id: string
      name: string
      text: string
      thinking: string
      input: object
    }[]
    const texts = blocks.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
    return {
      text: texts[0] ?? '',
      calls: blocks.flatMap(({ type, id, name, input }) =>
        type === 'tool_use' ? [{ id, name, arguments: JSON.stringify(input) }] : [],
      ),
      refusal: stop_reason === 'refusal' ? (texts.at(-1) ?? '') : null,
      ended: stop_reason,
      input: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
      output: usage.output_tokens,
      warnings: svc_metadata.warnings ?? [],
      cached: usage.cache_read_input_tokens,
      thoughts: blocks.map(({ type, thinking }) => (type === 'thinking' ? thinking : '')).join(''),
    }
  },

  readStream(text) {
    const events = readMessageEvents(text)
    const last = events.at(-1)!
    if (last.type !== 'message_stop') throw new Error(`the stream ends with ${last.type}`)
    const content = events.flatMap((event) =>
      event.type === 'content_block_start' ? [{ ...event.content_block }] : [],
    )
    for (const { type, index, delta } of events) {
      if (type !== 'content_block_delta') continue
      const block = content[index]
      if (delta.type === 'text_delta') block.text += delta.text
      else if (delta.type === 'thinking_delta') block.thinking += delta.thinking
      else if (delta.type === 'signature_delta') block.signature = delta.signature
      else block.json = (block.json ?? '') + delta.partial_json
    }
    for (const block of content) if (block.json) block.input = JSON.parse(block.json)
    const { delta, usage, svc_metadata } = events.at(-2)!
    return messages.read({ content, usage, svc_metadata, ...delta })
  },

  error: ({ error }) => ({ code: error.details.error_code, message: error.message }),
  streamError(text) {
    const { type, error } = readMessageEvents(text).at(-1)!
    if (type !== 'error') throw new Error(`the stream ends with ${type}`)
    return { code: error.details.error_code, message: error.message }
  },
}

const toolChoice = (choice: NonNullable<ApiRequest['choice']>) =>
  typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choice === 'required' ? 'any' : 'none' }

// biome-ignore lint/suspicious/noExplicitAny: events of every shape
type MessageEvent = { type: string; [name: string]: any }

/** Members of the message that opens a stream. */
const MESSAGE = ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'usage']
/** The block of each delta. */
const DELTAS: Record<string, string> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
}

/**
 * The events of a Messages stream, read as strict clients do (docs/api.md 30.3): one `message_start` first, blocks
 * counted from 0, each with its start before deltas of its own kind and its stop before the next.
 */
function readMessageEvents(text: string): MessageEvent[] {
  const events = readFrames(text).map(({ event, data }): MessageEvent => {
    if (data.type !== event) throw new Error(`${event} holds ${data.type}`)
    return data
  })
  if (events[0]?.type !== 'message_start') throw new Error(`the stream begins with ${events[0]?.type}`)
  const { message } = events[0]
  const missing = MESSAGE.filter((name) => message[name] === undefined)
  if (missing.length || !(message.usage.input_tokens > 0)) throw new Error(`the message begins without ${missing}`)
  let next = 0
  let kind = ''
  let open = false
  for (const [at, { type, index, delta, content_block }] of events.entries()) {
    if (type === 'message_start' && at > 0) throw new Error('the message starts twice')
    if (type === 'content_block_start') {
      if (open || index !== next) throw new Error(`block ${index} begins where ${next} should`)
      open = true
      kind = content_block.type
      next += 1
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      if (!open || index !== next - 1) throw new Error(`${type} of block ${index}, which is not open`)
      if (delta && DELTAS[delta.type] !== kind) throw new Error(`${delta.type} in a block of ${kind}`)
      open = type === 'content_block_delta'
    } else if (type === 'message_delta' && open) throw new Error('the message ends with an open block')
  }
  return events
}
