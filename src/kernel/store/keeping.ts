import { isAway } from './errors'

/** Follows whether the storage keeps what is written, as the last commit that was tried shows. */
export function createKeeping() {
  let failing = false
  return {
    failing: (): boolean => failing,
    kept(): void {
      failing = false
    },
    /** Notes a failed commit; errors of the unit itself say nothing about the storage. */
    lost(error: unknown): void {
      if (isAway(error)) failing = true
    },
  }
}

export type Keeping = ReturnType<typeof createKeeping>
