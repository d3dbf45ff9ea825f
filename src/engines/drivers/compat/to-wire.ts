import type { EngineRequest, EngineTool, ImagePart, Message, Part, ToolChoice } from '../../engine'
import { argumentsForHistory } from '../calls'

/** The body of a chat-completions request. */
export type WireRequest = Record<string, unknown>

export type WireOptions = {
  /** `max_tokens`, or `max_completion_tokens` where a server insists. */
  outputLimitField: string
}

export function toWire(request: EngineRequest, stream: boolean, { outputLimitField }: WireOptions): WireRequest {
  const body: WireRequest = { model: request.model, messages: messagesToWire(request.messages), stream }
  if (stream) body.stream_options = { include_usage: true }
  if (Number.isFinite(request.maxOutputTokens)) body[outputLimitField] = request.maxOutputTokens
  if (request.temperature !== undefined) body.temperature = request.temperature
  if (request.json) body.response_format = formatToWire(request.json)
  if (request.tools?.length) body.tools = request.tools.map(toolToWire)
  if (request.tools?.length && request.toolChoice) body.tool_choice = choiceToWire(request.toolChoice)
  if (request.tools?.length && request.oneCallATurn) body.parallel_tool_calls = false
  return body
}

/** Images of tool results follow the results as a user message, because servers take only text from a tool. */
function messagesToWire(messages: readonly Message[]): unknown[] {
  const wire: unknown[] = []
  let images: ImagePart[] = []
  const flush = () => {
    if (images.length) wire.push({ role: 'user', content: [OF_TOOL, ...images].map(partToWire) })
    images = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') flush()
    else if (message.images) images.push(...message.images)
    wire.push(messageToWire(message))
  }
  flush()
  return wire
}

const OF_TOOL: Part = { type: 'text', text: 'Images of the tool results above:' }

function messageToWire(message: Message): unknown {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  }
  const { role, content, toolCalls, reasoning } = message
  const wire = {
    role,
    content: typeof content === 'string' ? content : content.map(partToWire),
    ...(reasoning ? { reasoning_content: reasoning } : {}),
  }
  if (!toolCalls?.length) return wire
  // Empty content beside calls is sent as null, because some servers refuse an empty string.
  const calls = toolCalls.map(({ id, name, arguments: args, extra }) => ({
    ...extra,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(argumentsForHistory(args)) },
  }))
  return { ...wire, content: wire.content.length ? wire.content : null, tool_calls: calls }
}

const partToWire = (part: Part): unknown =>
  part.type === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.base64}` } }

const formatToWire = (json: NonNullable<EngineRequest['json']>): unknown =>
  json === true ? { type: 'json_object' } : { type: 'json_schema', json_schema: { name: 'answer', ...json } }

const toolToWire = (tool: EngineTool): unknown => ({ type: 'function', function: tool })

const choiceToWire = (choice: ToolChoice): unknown =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
