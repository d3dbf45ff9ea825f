import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './controls'
import { Fields, type FormField } from './fields'

type Props<Row> = {
  /** Name of one row: `rule`, `step`. */
  name: string
  rows: readonly Row[]
  onChange(rows: Row[]): void
  fresh(): Row
  /** The fields of a row, or what they are by hand. */
  fields?: readonly FormField[]
  children?(row: Row, set: (changes: Partial<Row>) => void, at: number): ReactNode
}

/** An ordered list of items, each with its fields. Items can be added, removed and moved, also by keyboard. */
export function Rows<Row>({ name, rows, onChange, fresh, fields, children }: Props<Row>) {
  const change = (at: number, changes: Partial<Row>) =>
    onChange(rows.map((row, other) => (other === at ? { ...row, ...changes } : row)))
  const swap = (from: number, to: number) => {
    const next = [...rows]
    ;[next[from], next[to]] = [next[to]!, next[from]!]
    onChange(next)
  }
  return (
    <>
      <ol className="rows">
        {rows.map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id until they are saved
          <li key={at} className="card" aria-label={`${name} ${at + 1}`}>
            <div className="row-head">
              <b>{at + 1}</b>
              {[[-1, 'up', ArrowUp] as const, [1, 'down', ArrowDown] as const].map(([by, way, icon]) => (
                <Button
                  key={way}
                  kind="plain"
                  aria-label={`Move ${name} ${at + 1} ${way}`}
                  disabled={!(at + by in rows)}
                  onClick={() => swap(at, at + by)}
                  icon={icon}
                />
              ))}
              <Button
                kind="plain"
                aria-label={`Remove ${name} ${at + 1}`}
                onClick={() => onChange(rows.filter((_, other) => other !== at))}
                icon={Trash2}
              />
            </div>
            {fields && <Fields of={fields} value={row} onChange={(changes) => change(at, changes)} />}
            {children?.(row, (changes) => change(at, changes), at)}
          </li>
        ))}
      </ol>
      <div className="actions">
        <Button onClick={() => onChange([...rows, fresh()])} icon={Plus}>
          Add {name}
        </Button>
      </div>
    </>
  )
}
