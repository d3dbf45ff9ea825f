import { defineJob } from '../../src/jobs'

const shared = { retry: { attempts: 1, delayMs: () => 1 }, timeLimitMs: 60_000, run: async () => ({}) }

/** Work of a type that operators may pause. */
export const heldKind = defineJob({ ...shared, name: 'test.held', shown: 'video', concurrency: 8 })

/** Work of another type. */
export const freeKind = defineJob({ ...shared, name: 'test.free', shown: 'research', concurrency: 1 })
