import { and, desc, eq, gt, inArray, lt, notInArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../kernel/store'
import { type SignInPlaceRow, signInFailures, signInPlaces } from './table'

/** Failed sign-ins by what they are counted for, and the networks from which accounts were signed in to. */
export const attemptRepository = {
  async times(db: Reader, subject: string): Promise<number[]> {
    const table = db.of(signInFailures)
    const found = db.select({ times: table.times }).from(table)
    return (await found.where(eq(table.subject, subject)).limit(1))[0]?.times ?? []
  },

  /** The same, locked until the unit commits; makes the row if need be. */
  async lock(tx: Tx, subject: string, last_at: number): Promise<number[]> {
    const table = tx.of(signInFailures)
    const locked = tx
      .insert(table)
      .values({ subject, times: [], last_at })
      .onConflictDoUpdate({ target: table.subject, set: { last_at } })
    return (await locked.returning({ times: table.times }))[0]!.times
  },

  async setTimes(tx: Tx, subject: string, times: number[]): Promise<void> {
    const table = tx.of(signInFailures)
    await tx.update(table).set({ times }).where(eq(table.subject, subject))
  },

  async isKnown(db: Reader, account: string, network: string, since: number): Promise<boolean> {
    const table = db.of(signInPlaces)
    const here = and(eq(table.account, account), eq(table.network, network), gt(table.last_at, since))
    return (await db.select({ last_at: table.last_at }).from(table).where(here).limit(1)).length === 1
  },

  async remember(tx: Tx, row: SignInPlaceRow): Promise<void> {
    const table = tx.of(signInPlaces)
    const target = [table.account, table.network]
    await tx
      .insert(table)
      .values(row)
      .onConflictDoUpdate({ target, set: { last_at: sql`excluded.last_at` } })
  },

  /** Keeps only the latest networks of an account. */
  async forgetBeyond(tx: Tx, account: string, most: number): Promise<void> {
    const table = tx.of(signInPlaces)
    const latest = tx
      .select({ network: table.network })
      .from(table)
      .where(eq(table.account, account))
      .orderBy(desc(table.last_at), table.network)
      .limit(most)
    await tx.delete(table).where(and(eq(table.account, account), notInArray(table.network, latest)))
  },

  /** Removes up to `limit` rows of each table that were last used before these moments, and returns how many. */
  async removeOld(tx: Tx, before: { failures: number; places: number }, limit: number): Promise<number> {
    const [failure, place] = [tx.of(signInFailures), tx.of(signInPlaces)]
    const failures = tx.select({ subject: failure.subject }).from(failure)
    const oldFailures = failures.where(lt(failure.last_at, before.failures)).limit(limit)
    const gone = await tx
      .delete(failure)
      .where(inArray(failure.subject, oldFailures))
      .returning({ subject: failure.subject })
    const accounts = tx.select({ account: place.account }).from(place)
    const oldAccounts = accounts.where(lt(place.last_at, before.places)).limit(limit)
    const forgotten = await tx
      .delete(place)
      .where(and(inArray(place.account, oldAccounts), lt(place.last_at, before.places)))
      .returning({ account: place.account })
    return gone.length + forgotten.length
  },
}
