import type { EngineService } from '../engines'

/** Warning of an answer or a preview: the engine that a rule names is not connected, so the mode's own is used. */
export const engineLeft = (engine: string, mode: string): string =>
  `The routing rule names the engine "${engine}", which is not connected on this server; the engine of mode "${mode}" is used instead.`

const notConnected = (mode: string): string =>
  `No engine for mode "${mode}" is connected on this server: a request gets 503 engine_unavailable.`

/** The engine that would answer a choice, and what is to be said of it in `warnings` of a preview. */
export function engineUsed(
  engines: Pick<EngineService, 'canonical' | 'forMode' | 'isConnected'>,
  { mode, engine }: { mode: string; engine: string | null },
): { engine: string; warnings: string[] } {
  const own = engines.forMode(mode)
  const wanted = engines.canonical(engine ?? own)
  if (engines.isConnected(wanted)) return { engine: wanted, warnings: [] }
  const warnings = wanted === own ? [] : [engineLeft(wanted, mode)]
  if (!engines.isConnected(own)) warnings.push(notConnected(mode))
  return { engine: own, warnings }
}
