/** The largest body that a receiver gets (contract 14.3). */
const MOST_BYTES = 256 * 1024

/**
 * The data of an event as receivers get it: what is too large for one delivery is null and named in `_omitted`, largest
 * first. The ids beside it say where all of it is, such as `GET /jobs/{job_id}`.
 */
export function deliverable(data: unknown): unknown {
  if (sizeOf(data) <= MOST_BYTES || typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const sizes = Object.entries(data).map(([name, value]) => ({ name, bytes: sizeOf(value) }))
  const omitted: string[] = []
  let left = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) {
    if (left <= MOST_BYTES / 2) break
    omitted.push(name)
    left -= bytes
  }
  const kept = Object.entries(data).map(([name, value]) => [name, omitted.includes(name) ? null : value])
  return { ...Object.fromEntries(kept), _omitted: omitted }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** Events that what started from events may publish in a minute, for one owner: they could double at each depth. */
export const STARTED = { most: 1_000, everyMs: 60_000 }
