import type { JsonObject } from './json'

const KINDS = ['number', 'money', 'time', 'list', 'flag'] as const

/** One member of an answer: a table column, and a name for `--fields`. */
export type Column = {
  /** The member's path in the JSON object. `a.b` is nested. */
  field: string
  header: string
  kind?: (typeof KINDS)[number]
  /** Shown only in `wide`, csv and single records. */
  wide?: boolean
  /** Never cut in a table, because a part of an id is useless. */
  keep?: boolean
  /** Omitted first when a table is narrow. */
  min?: boolean
  /** Formats the cell if the raw value is not suitable. `whole` is true when there is room for all of it. */
  show?(row: JsonObject, whole: boolean): string
}

export const column = (field: string, header: string, rest: Omit<Column, 'field' | 'header'> = {}): Column => ({
  field,
  header,
  ...rest,
})

export const isNumeric = ({ kind }: Column): boolean => kind === 'number' || kind === 'money'

/** Shows the start of an id, enough to identify it. Shows the whole id when there is room. */
export const idColumn: Column = {
  field: 'id',
  header: 'ID',
  keep: true,
  show: ({ id }, whole) => (whole ? String(id) : String(id).slice(0, 8)),
}

const OPTIONS: readonly string[] = [...KINDS, 'wide', 'keep', 'min']

/**
 * Parses columns from a comma-separated list. Each has its field, its header in capitals, its kind and its options,
 * such as `created_at CREATED time wide`. A function after them formats its cells. A field without a header is {@link
 * idColumn}.
 */
export const columnsOf = (table: TemplateStringsArray, ...shows: NonNullable<Column['show']>[]): Column[] =>
  table
    .reduce((text, more, at) => `${text}#${at - 1}${more}`)
    .split(',')
    .map((line) => {
      const [field = '', ...words] = line.trim().split(/\s+/)
      const options = words.filter((word) => OPTIONS.includes(word))
      const kind = KINDS.find((one) => options.includes(one))
      const given = options.filter((one) => one !== kind).map((one) => [one, true])
      const [, place] = /^#(\d+)$/.exec(words.at(-1) ?? '') ?? []
      const show = place && shows[Number(place)]
      const header = words.filter((word) => !OPTIONS.includes(word) && !/^#\d+$/.test(word)).join(' ')
      const named = header ? { field, header } : idColumn
      return { ...named, ...(kind ? { kind } : {}), ...Object.fromEntries(given), ...(show ? { show } : {}) }
    })

/** The value at `a.b`, or undefined. */
export const valueAt = (row: JsonObject, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((at, name) => (at !== null && typeof at === 'object' ? (at as JsonObject)[name] : undefined), row)
