const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0
const always = (): boolean => false
const is =
  (usual: unknown) =>
  (value: unknown): boolean =>
    value === usual

/** Members of other services' orders that change an answer there, each with the values that would change nothing. */
const IGNORED: Readonly<Record<string, (value: unknown) => boolean>> = {
  audio: always,
  frequency_penalty: is(0),
  function_call: always,
  functions: isEmpty,
  logit_bias: isEmpty,
  logprobs: is(false),
  max_completion_tokens: always,
  max_tokens: always,
  modalities: (value) => Array.isArray(value) && value.every(is('text')),
  n: is(1),
  presence_penalty: is(0),
  reasoning_effort: always,
  seed: always,
  stop: isEmpty,
  top_logprobs: is(0),
  top_p: is(1),
  web_search_options: always,
}

/** Their names in the order that the documents list them. */
export const IGNORED_MEMBERS: readonly string[] = Object.keys(IGNORED)

const NONE: ReadonlySet<string> = new Set()

/**
 * A sentence that names the members of an order that were accepted and ignored (contract 1.1, 4), so that nobody waits
 * for what they ask; null when the order has none.
 */
export function ignoredIn(input: object, honoured: ReadonlySet<string> = NONE): string | null {
  const sent = input as Record<string, unknown>
  const names = IGNORED_MEMBERS.filter(
    (name) => sent[name] != null && !honoured.has(name) && !IGNORED[name]!(sent[name]),
  )
  return names.length ? `Ignored, because this server does not have these settings: ${names.join(', ')}.` : null
}
