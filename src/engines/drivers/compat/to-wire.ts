import type { EngineRequest, EngineTool, Message, Part, ToolChoice } from '../../engine'

/** The body of a chat-completions request. */
export type WireRequest = Record<string, unknown>

export type WireOptions = {
  /** `max_tokens`, or `max_completion_tokens` where a server insists. */
  outputLimitField: string
}

export function toWire(request: EngineRequest, stream: boolean, { outputLimitField }: WireOptions): WireRequest {
  const body: WireRequest = { model: request.model, messages: request.messages.map(messageToWire), stream }
  if (stream) body.stream_options = { include_usage: true }
  if (Number.isFinite(request.maxOutputTokens)) body[outputLimitField] = request.maxOutputTokens
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.json) body.response_format = formatToWire(request.json)
  if (request.tools?.length) body.tools = request.tools.map(toolToWire)
  if (request.tools?.length && request.toolChoice) body.tool_choice = choiceToWire(request.toolChoice)
  if (request.tools?.length && request.oneCallATurn) body.parallel_tool_calls = false
  return body
}

function messageToWire(message: Message): unknown {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  }
  const { role, content, toolCalls } = message
  const wire = { role, content: typeof content === 'string' ? content : content.map(partToWire) }
  if (!toolCalls?.length) return wire
  // Empty content beside calls is sent as null, because some servers refuse an empty string.
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  return { ...wire, content: wire.content.length ? wire.content : null, tool_calls: calls }
}

const partToWire = (part: Part): unknown =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.base64}` } }

const formatToWire = (json: NonNullable<EngineRequest['json']>): unknown =>
  json === true ? { type: 'json_object' } : { type: 'json_schema', json_schema: { name: 'answer', schema: json } }

const toolToWire = ({ name, description, parameters }: EngineTool): unknown => ({
  type: 'function',
  function: { name, description, parameters },
})

const choiceToWire = (choice: ToolChoice): unknown =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
