import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import type { EngineRequest, EngineTool, Message, ToolChoice } from '../../engine'
import { toPrompt } from './history'

/** By default one vendor stores requests and accepts only schemas of its strict subset of JSON Schema. */
const PROVIDER_OPTIONS = { openai: { store: false, strictJsonSchema: false } }
const ONE_CALL_A_TURN = {
  openai: { ...PROVIDER_OPTIONS.openai, parallelToolCalls: false },
  anthropic: { disableParallelToolUse: true },
}

/** One vendor has no JSON mode without a schema, and another requires the word JSON in the prompt. */
const SAY_JSON: Message = { role: 'system', content: 'Answer with one JSON object and nothing else.' }

/** The request in the format of the vendor packages' shared interface. */
export function toCallOptions(request: EngineRequest, signal: AbortSignal): LanguageModelV4CallOptions {
  const { messages, json, tools, toolChoice, oneCallATurn, temperature } = request
  const options: LanguageModelV4CallOptions = {
    prompt: toPrompt(json === true ? [SAY_JSON, ...messages] : messages),
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: signal,
    providerOptions: tools?.length && oneCallATurn ? ONE_CALL_A_TURN : PROVIDER_OPTIONS,
  }
  if (temperature !== undefined) options.temperature = temperature
  if (json) {
    const { schema, name } = json === true ? {} : json
    options.responseFormat = { type: 'json', ...(schema ? { schema } : {}), ...(name ? { name } : {}) }
  }
  if (tools?.length) {
    options.tools = tools.map(toolToWire)
    options.toolChoice = choiceToWire(toolChoice ?? 'auto')
  }
  return options
}

const toolToWire = ({ name, description, parameters, strict }: EngineTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: parameters,
  ...(strict === undefined ? {} : { strict }),
})

const choiceToWire = (choice: ToolChoice): LanguageModelV4ToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name }
