/** Counts the bytes of each scope's cache entries, oldest first, so that no scope holds more than `most` bytes. */
export function createShares(most: number) {
  const scopes = new Map<string, { bytes: number; sizes: Map<string, number> }>()

  return {
    /** Counts an entry in; returns the keys of the oldest entries to evict so that the scope stays within its share. */
    add(scope: string, key: string, bytes: number): string[] {
      const share = scopes.get(scope) ?? { bytes: 0, sizes: new Map<string, number>() }
      scopes.set(scope, share)
      share.sizes.set(key, bytes)
      share.bytes += bytes
      let over = share.bytes - most
      const old: string[] = []
      for (const [candidate, size] of share.sizes) {
        if (over <= 0 || candidate === key) break
        old.push(candidate)
        over -= size
      }
      return old
    },

    remove(scope: string, key: string): void {
      const share = scopes.get(scope)
      const bytes = share?.sizes.get(key)
      if (!share || bytes === undefined) return
      share.sizes.delete(key)
      share.bytes -= bytes
      if (share.sizes.size === 0) scopes.delete(scope)
    },
  }
}
