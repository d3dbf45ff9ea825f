import type { Json } from './dialect'

/**
 * Why real servers would reject a history with tools: a call without a result, a result without a call, a system
 * message in the middle. Null when they would accept it.
 */
export type Fault = string | null

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])

/** Compares two lists of ids, ignoring their order. */
function unlike(requests: readonly unknown[], answered: readonly unknown[]): Fault {
  const [calls, results] = [new Set(requests), new Set(answered)]
  const same = calls.size === requests.length && results.size === answered.length && calls.symmetricDifference(results)
  return same && same.size === 0 ? null : `calls ${requests.join()} were answered by ${answered.join()}`
}

/** Chat completions: each assistant message with calls is followed by exactly their results. */
export function faultInChat(body: Json): Fault {
  const messages = listOf(body.messages)
  if (messages.some(({ role }, at) => role === 'system' && at > 0)) return 'a system message stands in the middle'
  for (let at = 0; at < messages.length; ) {
    const calls = listOf(messages[at++]!.tool_calls)
    const results: unknown[] = []
    for (; messages[at]?.role === 'tool'; at++) results.push(messages[at]!.tool_call_id)
    const fault = unlike(
      calls.map(({ id }) => id),
      results,
    )
    if (fault) return fault
  }
  return null
}

const partsOf = (message: Json | undefined, type: string): Json[] =>
  listOf(message?.content).filter((part) => part.type === type)

/** Messages API: one message right after the calls holds all their results; roles alternate. */
export function faultInMessages(body: Json): Fault {
  const messages = listOf(body.messages)
  for (const [at, message] of messages.entries()) {
    if (message.role === messages[at - 1]?.role) return `two messages of the ${message.role} follow each other`
    if (message.role !== 'user' && message.role !== 'assistant') return `a message of the ${message.role}`
    const calls = partsOf(messages[at - 1], 'tool_use').map(({ id }) => id)
    const results = partsOf(message, 'tool_result').map(({ tool_use_id }) => tool_use_id)
    const fault = unlike(calls, results)
    if (fault) return fault
    if (results.length && !body.tools) return 'results of tools in a request without tools'
  }
  return null
}

const named = (content: Json | undefined, part: string): unknown[] =>
  listOf(content?.parts).flatMap((each) => (each[part] ? [(each[part] as Json).name] : []))

/** Generate-content: a content with calls is followed by one with as many responses, by name and in order. */
export function faultInContents(body: Json): Fault {
  const contents = listOf(body.contents)
  for (const [at, content] of contents.entries()) {
    const calls = named(contents[at - 1], 'functionCall').join()
    const responses = named(content, 'functionResponse').join()
    if (calls !== responses) return `calls ${calls} were answered by ${responses}`
  }
  return null
}

/** Responses API: every call has an output after it; the server keeps no history. */
export function faultInInput(body: Json): Fault {
  const input = listOf(body.input)
  const idsOf = (type: string) => input.filter((item) => item.type === type).map(({ call_id }) => call_id)
  if (body.store !== false) return 'the answer would be stored'
  return unlike(idsOf('function_call'), idsOf('function_call_output'))
}
