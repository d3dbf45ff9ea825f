import { randomHex } from '../kernel/crypto'
import { signInBusy } from './errors'

/** OWASP's floor for argon2id: 19 MiB, two passes. More memory a hash would let a login storm exhaust the machine. */
const ARGON = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const PARALLEL = 4
const MOST_WAITING = 64

export type Passwords = ReturnType<typeof createPasswords>

/** Hashes and checks passwords, a few at a time. Throws 503 `service_unavailable` when too many wait. */
export function createPasswords() {
  const inTurn = turnstile(PARALLEL, MOST_WAITING)
  // Checked for accounts that do not exist, so that they take as long as those that do.
  let decoy: Promise<string> | null = null

  return {
    hash: (password: string): Promise<string> => inTurn(() => Bun.password.hash(same(password), ARGON)),

    /** The same work whether there is a hash or not. */
    verify: (password: string, hash: string | null): Promise<boolean> =>
      inTurn(async () => {
        if (hash !== null) return Bun.password.verify(same(password), hash)
        decoy ??= Bun.password.hash(randomHex(16), ARGON)
        await Bun.password.verify(same(password), await decoy)
        return false
      }),

    /** Makes the first check of an unknown account as quick as the next. */
    warmUp: async (): Promise<void> => {
      decoy ??= Bun.password.hash(randomHex(16), ARGON)
      await decoy
    },
  }
}

/** One password typed on two keyboards is one password. */
const same = (password: string): string => password.normalize('NFKC')

function turnstile(parallel: number, mostWaiting: number) {
  const waiting: (() => void)[] = []
  let inside = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (inside >= parallel) {
      if (waiting.length >= mostWaiting) throw signInBusy.with({ retryAfterS: 2 })
      await new Promise<void>((enter) => waiting.push(enter))
    } else {
      inside++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else inside--
    }
  }
}
