import { totalmem } from 'node:os'

/** A process whose memory is watched. */
export type Watched = {
  /** Resident bytes now. */
  memory(): number
  /** Bytes that it may have. */
  most: number
  isIdle: boolean
  /** Ends the process, and fails the task that it runs. */
  end(): void
}

const WATCH_MS = 50
const MB = 1024 ** 2
/** What one process, and what all of them together, may have of the memory of the server. */
const SHARE = { one: 1 / 4, all: 1 / 2 }
/** What a process may have on the smallest machine. */
const LEAST_BYTES = 256 * MB

const watched = new Set<Watched>()
let timer: ReturnType<typeof setInterval> | undefined

/** Bytes that this server may use: those of the machine, or of the container that it runs in. */
const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** What a process that would have `wanted` bytes may have on a machine or in a container of `limit` bytes. */
export const allowedBytes = (wanted: number, limit = memoryLimit()): number =>
  Math.min(wanted, Math.max(LEAST_BYTES, limit * SHARE.one))

/** Watches a process until {@link unwatch}: it is ended when it takes too much, or when all together do. */
export function watch(one: Watched): void {
  watched.add(one)
  timer ??= setInterval(look, WATCH_MS)
  timer.unref()
}

export function unwatch(one: Watched): void {
  watched.delete(one)
}

/** Ends processes that exceed their own bound, then the largest of all until the rest fit; idle ones go first. */
function look(): void {
  const sizes = [...watched].map((one) => ({ one, bytes: one.memory() }))
  let left = memoryLimit() * SHARE.all
  const byWorth = sizes.sort((a, b) => Number(a.one.isIdle) - Number(b.one.isIdle) || a.bytes - b.bytes)
  for (const { one, bytes } of byWorth) {
    if (bytes > one.most || bytes > left) one.end()
    else left -= bytes
  }
  if ([...watched].every(({ isIdle }) => isIdle)) {
    clearInterval(timer)
    timer = undefined
  }
}
