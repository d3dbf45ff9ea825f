import type { UserId } from '../kernel/ids'

/** Additional authenticated data that binds a sealed answer to its row. */
export const contextOf = ({ userId, key }: { userId: UserId; key: string }): string => `idempotency ${userId} ${key}`
