import type { EngineRequest } from './engine'

/** What a request may need that not every engine can (contract 28.4). */
export type Need = 'vision' | 'tools' | 'json'

/** What an engine can: true or false where the operator says so or the upstream does, else absent. */
export type Abilities = { readonly [N in Need]?: boolean | undefined }

type Able = { target: { can: Abilities } }

export function needsOf({ messages, tools, json }: Pick<EngineRequest, 'messages' | 'tools' | 'json'>): Need[] {
  const needs: Need[] = []
  if (messages.some(hasImage)) needs.push('vision')
  if (tools?.length) needs.push('tools')
  if (json) needs.push('json')
  return needs
}

const hasImage = ({ content }: EngineRequest['messages'][number]): boolean =>
  typeof content !== 'string' && content.some(({ type }) => type === 'image')

/**
 * Those that can do what is needed, in their order; for images those that are known to see go first. Where nothing
 * is known of one, it is tried.
 */
export function ableTo<C extends Able>(candidates: readonly C[], needs: readonly Need[]): readonly C[] {
  if (needs.length === 0) return candidates
  const able = candidates.filter(({ target }) => needs.every((need) => target.can[need] !== false))
  if (!needs.includes('vision')) return able
  return able.toSorted((a, b) => Number(b.target.can.vision ?? false) - Number(a.target.can.vision ?? false))
}

const WORDS = { vision: 'images', tools: 'tools', json: 'JSON output' }

/** What is missing, in words for the caller: what none of them can, or else what no single one can together. */
export function missingIn(candidates: readonly Able[], needs: readonly Need[]): string {
  const missing = needs.filter((need) => candidates.every(({ target }) => target.can[need] === false))
  return (missing.length ? missing : needs).map((need) => WORDS[need]).join(' and ')
}
