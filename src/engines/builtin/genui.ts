import type { Skill } from './question'
import { capital } from './words'

/** Component kinds by words of the prompt; anything else becomes a card. */
const KINDS: [RegExp, (title: string, prompt: string) => string][] = [
  [/\b(?:form|sign[- ]?up|log[- ]?in|register|registration|contact|checkout|survey)\b/i, form],
  [/\btable\b|\bgrid of\b|\brows?\b/i, table],
  [/\blist\b|\btodo\b|\bmenu\b|\bchecklist\b/i, list],
  [/\bcounter\b/i, counter],
  [/\bbutton\b/i, button],
]

/** A scaffold of one component, in `genui` mode: code only, with the title, fields and columns of the prompt. */
export const genui: Skill = ({ mode, prompt }) => {
  if (mode !== 'genui') return null
  const build = KINDS.find(([named]) => named.test(prompt))?.[1] ?? card
  return build(titleOf(prompt), prompt)
}

/** A title from the prompt, reduced to characters that are safe in JSX text and attributes. */
function titleOf(prompt: string): string {
  const thing =
    /\b(?:a|an|the)\s{1,20}(.{3,60}?)(?:\s{1,20}(?:with|for|that|which|using|component)\b|[.,:\n]|$)/i.exec(
      prompt,
    )?.[1] ?? prompt
  return (
    capital(
      thing
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .trim()
        .slice(0, 50),
    ) || 'Component'
  )
}

const FIELDS: [RegExp, string, string, string][] = [
  [/\bname\b/i, 'name', 'Name', 'text'],
  [/\be-?mail|sign|log[- ]?in|contact|regist/i, 'email', 'E-mail', 'email'],
  [/\bpassword|sign|log[- ]?in|regist/i, 'password', 'Password', 'password'],
  [/\bphone\b/i, 'phone', 'Phone', 'tel'],
  [/\bdate\b/i, 'date', 'Date', 'date'],
  [/\bmessage|contact|comment|feedback/i, 'message', 'Message', 'text'],
]

function form(title: string, prompt: string): string {
  const fields = FIELDS.filter(([named]) => named.test(prompt)).map(
    ([, name, label, type]) =>
      `      <label>\n        ${label}\n        <input name="${name}" type="${type}" required />\n      </label>`,
  )
  return `export default function Form({ onSubmit }: { onSubmit?: (values: Record<string, string>) => void }) {
  return (
    <form
      aria-label="${title}"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit?.(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
      }}
    >
      <h2>${title}</h2>
${fields.map((field) => `${field}\n`).join('')}      <button type="submit">Send</button>
    </form>
  )
}`
}

function table(title: string, prompt: string): string {
  return `export default function Table({ columns = [${columnsOf(prompt)}] as string[], rows = [] as string[][] }) {
  return (
    <table>
      <caption>${title}</caption>
      <thead>
        <tr>{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr>
      </thead>
      <tbody>
        {rows.map((row, at) => <tr key={at}>{row.map((cell, place) => <td key={place}>{cell}</td>)}</tr>)}
      </tbody>
    </table>
  )
}`
}

/** `with the columns name, age and city`. */
const columnsOf = (prompt: string): string =>
  (/\bcolumns?:?\s+(?:for\s+)?([^.;:\n]{1,200})/i.exec(prompt)?.[1] ?? '')
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/)
    .map((name) => capital(name.replace(/[^\p{L}\p{N} -]/gu, '').trim()))
    .filter(Boolean)
    .map((name) => `'${name}'`)
    .join(', ')

function list(title: string): string {
  return `import { useState } from 'react'

export default function List({ start = [] as string[] }) {
  const [items, setItems] = useState(start)
  return (
    <section aria-label="${title}">
      <h2>${title}</h2>
      <ul>{items.map((item, at) => <li key={at}>{item}</li>)}</ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const item = String(new FormData(event.currentTarget).get('item') ?? '').trim()
          if (item) setItems([...items, item])
          event.currentTarget.reset()
        }}
      >
        <input name="item" aria-label="New item" />
        <button type="submit">Add</button>
      </form>
    </section>
  )
}`
}

function counter(title: string): string {
  return `import { useState } from 'react'

export default function Counter() {
  const [count, setCount] = useState(0)
  return (
    <section aria-label="${title}">
      <output>{count}</output>
      <button type="button" onClick={() => setCount(count - 1)}>−</button>
      <button type="button" onClick={() => setCount(count + 1)}>+</button>
    </section>
  )
}`
}

function button(title: string): string {
  return `export default function Button({ onPress }: { onPress?: () => void }) {
  return (
    <button type="button" onClick={onPress}>
      ${title}
    </button>
  )
}`
}

function card(title: string): string {
  return `export default function Card({ children = null as React.ReactNode }) {
  return (
    <article aria-label="${title}">
      <h2>${title}</h2>
      {children}
    </article>
  )
}`
}
