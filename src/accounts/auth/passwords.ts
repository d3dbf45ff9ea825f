import { authErrors } from './errors'

/** OWASP's minimum for argon2id: 19 MiB, two passes. With more, many sign-ins at once would exhaust the machine. */
const ARGON = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** A hash that no password matches. Checked when no account exists, so both cases take equally long. */
export const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$URzyQTmpPKklKAYDBvKqX3CBYAVhyZh8ruW8+Z4yY1w$Euiq5V1MKO3sIReY8cyf94N4rgACUGi6jv0uCt856hM'
const PARALLEL = 4
const MAX_WAITING = 64

export type Passwords = ReturnType<typeof createPasswords>

/** Hashes and checks passwords, a few in parallel. Throws 503 `service_unavailable` when too many are waiting. */
export function createPasswords({ parallel = PARALLEL, maxWaiting = MAX_WAITING } = {}) {
  const inTurn = turnstile(parallel, maxWaiting)

  return {
    hash: (password: string): Promise<string> => inTurn(() => Bun.password.hash(normalized(password), ARGON)),

    /** Takes equally long with and without a hash. `admit` runs when the check leaves the queue, and may reject it. */
    verify: async (password: string, hash: string | null, admit?: () => Promise<void>): Promise<boolean> => {
      const isRight = await inTurn(async () => {
        await admit?.()
        return Bun.password.verify(normalized(password), hash ?? DECOY)
      })
      return isRight && hash !== null
    },
  }
}

/** Keyboards may encode the same password differently; NFKC makes them equal. */
const normalized = (password: string): string => password.normalize('NFKC')

function turnstile(parallel: number, maxWaiting: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= parallel) {
      if (waiting.length >= maxWaiting) throw authErrors.signInBusy.with({ retryAfterS: 2 })
      await new Promise<void>((enter) => waiting.push(enter))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
