/** Output tokens that a call reserves money for, and so the largest answer that is paid. */
export const MAX_TOKENS = 1_000
/** Cents for one token of an answer; prompts cost nothing, so that every amount can be told in advance. */
export const TOKEN_CENTS = 0.001
/** What one call reserves. */
export const HOLD_CENTS = MAX_TOKENS * TOKEN_CENTS

const ENGINES = ['flash', 'reason', 'code', 'research', 'roast', 'genui', 'analyze', 'extract', 'vision']

/**
 * One upstream with a small limit behind every text engine, each with a breaker of its own, at a price that is easy to
 * follow.
 */
export const pricedEngines = (baseUrl: string): Record<string, string> => ({
  SVC_ENGINES: JSON.stringify({
    upstreams: { up: { kind: 'compat', baseUrl, maxOutputTokens: MAX_TOKENS } },
    models: Object.fromEntries(ENGINES.map((id) => [`svc-1-${id}`, [`up:${id}`]])),
  }),
  SVC_PRICES: JSON.stringify({
    'svc-1-flash': { promptPer1k: 0, completionPer1k: TOKEN_CENTS * 1_000_000 * 1_000 },
    'svc-1-reason': { promptPer1k: 0, completionPer1k: TOKEN_CENTS * 1_000_000 * 1_000 },
  }),
})
