import type { Clock } from '../../kernel/clock'
import { trustedFetch } from '../../kernel/outbound'
import type { ModelFacts } from '../engine'
import { failureOfStatus } from '../failures'
import { readText } from './compat-body'
import { startTimeout, type TimeoutLimits } from './upstream-timeout'

type Request = {
  url: string
  headers: Record<string, string>
  signal: AbortSignal
  limits: TimeoutLimits
  clock: Clock
}

const MAX_MODELS = 5_000

/**
 * Asks an upstream for the list of its models, which costs nothing. A server that has no such list (404, 405) is
 * there, and says nothing about its models. Throws {@link EngineFailure}.
 */
export async function askModels({ url, headers, signal, limits, clock }: Request): Promise<ModelFacts[]> {
  const timeout = startTimeout(signal, limits)
  try {
    const response = await trustedFetch(url, { headers, signal: timeout.signal })
    if (response.status === 404 || response.status === 405) return []
    const text = await readText(response, timeout)
    if (!response.ok) {
      throw failureOfStatus(response.status, response.headers, clock.now(), text)
    }
    return readListing(text)
  } catch (error) {
    throw timeout.explain(error)
  } finally {
    timeout.release()
  }
}

/** The models of a list in any of the forms that servers send; none where the text is something else. */
export function readListing(text: string): ModelFacts[] {
  const listed = parsed(text)
  const entries = [listed.data, listed.models].find(Array.isArray) ?? []
  return entries.slice(0, MAX_MODELS).filter(isRecord).flatMap(factsOf)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function factsOf(entry: Record<string, unknown>): ModelFacts[] {
  const id = [entry.id, entry.name].find((word) => typeof word === 'string')
  if (!id) return []
  const can = isRecord(entry.capabilities) ? entry.capabilities : {}
  const architecture = isRecord(entry.architecture) ? entry.architecture : {}
  const modalities = listOf(architecture.input_modalities) ?? listOf(entry.input_modalities)
  const parameters = listOf(entry.supported_parameters)
  return [
    {
      id: id.replace(/^models\//, ''),
      vision: modalities?.includes('image') ?? statedOf(can.vision ?? can.image_input),
      tools: parameters?.includes('tools') ?? statedOf(can.function_calling),
      json: parameters && ['response_format', 'structured_outputs'].some((word) => parameters.includes(word)),
    },
  ]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** `true`, `{"supported": true}`, or their opposites; anything else tells nothing. */
function statedOf(value: unknown): boolean | undefined {
  const message = isRecord(value) ? value.supported : value
  return typeof message === 'boolean' ? message : undefined
}
