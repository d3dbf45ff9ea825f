import { type ReactNode, useId, useState } from 'react'
import { Bar, Button, CopyButton } from './controls'
import { money, spelled, whole } from './format'
import { Shown, type ShownProps } from './states'

/** Names with their values. A value of null, undefined or false is left out. */
export type FactsOf = Readonly<Record<string, ReactNode>>

/** Names with their values, one below the other. */
export const Facts = ({ of }: { of: FactsOf }) => (
  <dl className="facts-list">
    {Object.entries(of).map(
      ([name, fact]) =>
        fact !== undefined &&
        fact !== null &&
        fact !== false && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ),
    )}
  </dl>
)

const wordsOf = (value: unknown): ReactNode => {
  if (value === null || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ') || 'none'
  return typeof value === 'object' ? <code>{JSON.stringify(value)}</code> : String(value)
}

type Members = Readonly<Record<string, unknown>>

/** What an event recorded, as names and values that can be copied as JSON. */
export const EventBody = ({ row }: { row: { inputSummary: Members; outputSummary: Members } }) => (
  <>
    <Recorded title="Request" of={row.inputSummary} />
    <Recorded title="Result" of={row.outputSummary} />
  </>
)

const Recorded = ({ title, of }: { title: string; of: Members }) => (
  <Part title={title}>
    <Facts of={Object.fromEntries(Object.entries(of).map(([name, value]) => [spelled(name), wordsOf(value)]))} />
    <div className="actions">
      <CopyButton text={JSON.stringify(of, null, 2)} label="Copy as JSON" />
    </div>
  </Part>
)

type PartProps = { title: string; id?: string; children: ReactNode }

/** A titled part of a drawer. */
export function Part({ title, id, children }: PartProps) {
  const own = useId()
  return (
    <section aria-labelledby={id ?? own}>
      <h3 id={id ?? own}>{title}</h3>
      {children}
    </section>
  )
}

/** A titled part of a drawer with loaded data. */
export const ShownPart = <T,>({ title, ...shown }: ShownProps<T> & { title: string }) => (
  <Part title={title}>
    <Shown {...shown} />
  </Part>
)

/** A titled card of a page. */
export function Card({ title, className = 'part', children }: Omit<PartProps, 'id'> & { className?: string }) {
  const id = useId()
  return (
    <section className={`card ${className}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

type Line = { key: string; mark?: ReactNode; text: ReactNode; small?: ReactNode; end?: ReactNode }
type LinesProps<Row> = { of: readonly Row[]; empty?: string; most?: number; line(row: Row): Line }

/** A short list: a mark, a text with small print, and an end such as the time. Beyond `most`, a button shows the rest. */
export function Lines<Row>({ of, empty, most = Number.POSITIVE_INFINITY, line }: LinesProps<Row>) {
  const [isWhole, setWhole] = useState(false)
  if (of.length === 0) return empty ? <p className="faint">{empty}</p> : null
  return (
    <>
      <ul className="plain-list">
        {of
          .slice(0, isWhole ? of.length : most)
          .map(line)
          .map(({ key, mark, text, small, end = <span /> }) => (
            <li key={key}>
              {mark}
              <span>
                {text}
                {small && <small>{small}</small>}
              </span>
              {end}
            </li>
          ))}
      </ul>
      {of.length > most && !isWhole && (
        <div className="actions">
          <Button kind="plain" onClick={() => setWhole(true)}>
            Show all {whole(of.length)}
          </Button>
        </div>
      )}
    </>
  )
}

type GridProps = {
  label: string
  className?: string
  heads: readonly string[]
  /** The cells of each row. The first is the head of the row. */
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
}

/** A small table that scrolls in its own box. */
export const Grid = ({ label, className = '', heads, rows }: GridProps) => (
  <div className={`scrolls ${className}`} role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells: [head, ...cells] }) => (
          <tr key={key}>
            <th scope="row">{head}</th>
            {cells.map((cell, at) => (
              <td key={heads[at + 1]} className={typeof cell === 'number' ? 'number' : ''}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

type FigureProps = { name: ReactNode; figure: string; children: ReactNode; bar?: ReactNode }

/** A tile with one large figure, its name above and its meaning below. */
export const Figure = ({ name, figure, children, bar }: FigureProps) => (
  <li className="card figure">
    {typeof name === 'string' ? <span>{name}</span> : name}
    <b>{figure}</b>
    <small>{children}</small>
    {bar}
  </li>
)

/** The spent amount and its cap. */
export const Spent = ({ name, used, cap }: { name: string; used: number; cap: number | null }) => (
  <Figure
    name={name}
    figure={money(used)}
    bar={cap !== null && <Bar used={used} of={cap} label={`${name}: ${money(used)} of ${money(cap)}`} />}
  >
    {cap === null ? 'no cap' : `of ${money(cap)}`}
  </Figure>
)
