import { and, gte, lt, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** True if a word can be the beginning of a UUID, with at least six characters (docs/operating.md 2.1). */
export const isIdPrefix = (word: string): boolean => /^[0-9a-f]{6,8}(-[0-9a-f-]{0,26})?$/.test(word)

/** Condition for ids that begin with `word`. A range, so that the index is used: UUIDs sort before `g`. */
export const hasIdPrefix = (id: SQLiteColumn, word: string): SQL | undefined => and(gte(id, word), lt(id, `${word}g`))
