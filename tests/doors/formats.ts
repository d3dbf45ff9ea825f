import { type Call, type DoorAnswer, type DoorRequest, type Format, WEATHER } from '../suites/door'
import { readFrames } from '../support/frames'

const PARAMETERS = { description: 'Gets the weather.', parameters: WEATHER }
const dataUrl = (image: string) => `data:image/png;base64,${image}`

/** Chat completions. */
export const chat: Format = {
  path: '/chat/completions',
  ends: { stop: 'stop', calls: 'tool_calls', filter: 'content_filter' },
  streaming: { stream: true, stream_options: { include_usage: true } },
  ignored: { web_search_options: {}, audio: {} },

  send({ prompt, model = 'svc-1-flash', system, calls, tools, choice, schema, image, conversation }: DoorRequest) {
    return {
      model,
      messages: [
        ...(system ? [{ role: 'system', content: system }] : []),
        {
          role: 'user',
          content: image
            ? [
                { type: 'text', text: prompt },
                { type: 'image_url', image_url: { url: dataUrl(image) } },
              ]
            : prompt,
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
    }
  },

  read({ choices, usage, svc_metadata }): DoorAnswer {
    const { message, finish_reason } = choices[0]
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map(callOf),
      refusal: message.refusal ?? null,
      ended: finish_reason,
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      warnings: svc_metadata.warnings ?? [],
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
  ends: { stop: 'completed', calls: 'completed', filter: 'content_filter' },
  streaming: { stream: true },
  ignored: { moderation: {}, context_management: [] },

  send({ prompt, model = 'svc-1-flash', system, calls, tools, choice, schema, image, conversation }: DoorRequest) {
    return {
      model,
      instructions: system,
      input: [
        {
          role: 'user',
          content: image
            ? [
                { type: 'input_text', text: prompt },
                { type: 'input_image', detail: 'auto', image_url: dataUrl(image) },
              ]
            : prompt,
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
    }
  },

  read({ output, usage, status, incomplete_details, svc_metadata }): DoorAnswer {
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
 * The events of a Responses stream, read as strict clients do (contract 29.6): numbers rise by one from 0, every id was
 * announced, an item ends before the next begins, and nothing follows the last event.
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
  for (const [at, frame] of frames.entries()) {
    if (frame.sequence_number !== at) throw new Error(`event ${at} has number ${frame.sequence_number}`)
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
