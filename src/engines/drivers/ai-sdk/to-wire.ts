import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import type { EngineRequest, EngineTool, Message, Part, ToolChoice } from '../../engine'

/** The request in the words of the vendor packages' shared interface. */
export function toCallOptions(request: EngineRequest, signal: AbortSignal): LanguageModelV4CallOptions {
  const options: LanguageModelV4CallOptions = {
    prompt: request.messages.map(messageToPrompt),
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: signal,
  }
  if (request.temperature !== undefined) options.temperature = request.temperature
  if (request.json)
    options.responseFormat = request.json === true ? { type: 'json' } : { type: 'json', schema: request.json }
  if (request.tools?.length) {
    options.tools = request.tools.map(toolToWire)
    options.toolChoice = choiceToWire(request.toolChoice ?? 'auto')
  }
  return options
}

function messageToPrompt(message: Message): LanguageModelV4Message {
  if (message.role === 'tool') {
    const output = { type: 'text' as const, value: message.content }
    return {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: message.toolCallId, toolName: message.toolName, output }],
    }
  }
  const parts =
    typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content
  switch (message.role) {
    case 'system':
      return { role: 'system', content: parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') }
    case 'user':
      return { role: 'user', content: parts.map(partToWire) }
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...parts.filter((part) => part.type !== 'text' || part.text !== '').map(partToWire),
          ...(message.toolCalls ?? []).map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: JSON.parse(call.arguments || '{}') as unknown,
          })),
        ],
      }
  }
}

const partToWire = (part: Part) =>
  part.type === 'text'
    ? { type: 'text' as const, text: part.text }
    : { type: 'file' as const, mediaType: part.mimeType, data: { type: 'data' as const, data: part.base64 } }

const toolToWire = ({ name, description, parameters }: EngineTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: parameters,
})

const choiceToWire = (choice: ToolChoice): LanguageModelV4ToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name }
