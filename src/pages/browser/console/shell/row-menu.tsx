import { type ReactNode, useState } from 'react'
import { Menu, MenuItem } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import { useLocation } from 'wouter'
import { Failed, type Problem } from '../ui/states'
import { type Action, Doing, useMayAct } from './actions'
import { useOwner } from './api'
import { at } from './boot'
import type { DetailOf } from './detail'

type Props = {
  row: unknown
  id: string
  /** The button that opened the menu. */
  button: HTMLElement
  /** The address of the details. */
  href: string
  detail: DetailOf<unknown>
  /** The path of the list. */
  list: string
}

/** The menu of a row: what its details offer. Questions, answers and problems of an action appear above the list. */
export default function RowMenu({ row, id, button, href, detail, list }: Props) {
  const owner = useOwner()
  const mayAct = useMayAct()
  const [, navigate] = useLocation()
  const [isOpen, setOpen] = useState(true)
  const [doing, setDoing] = useState<Action | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [answer, setAnswer] = useState<ReactNode>(null)
  const { actions = [], touches = [list], ...who } = detail.actions?.(row, () => setAnswer(null), owner) ?? {}
  const offered = actions.filter((it) => it !== false && it !== null).filter((it) => mayAct(who, it))
  const copy = (text: string) => void navigator.clipboard?.writeText(text)
  const runs: Record<string, () => void> = {
    Open: () => navigate(href),
    'Copy its id': () => copy(id),
    'Copy its link': () => copy(location.origin + at(`/console${href}`)),
    ...Object.fromEntries(offered.map((action) => [action.label, () => setDoing(action)])),
  }
  return (
    <>
      <Popover
        className="popover"
        aria-label="Actions of the row"
        {...{ isOpen, onOpenChange: setOpen }}
        triggerRef={{ current: button }}
      >
        <Menu
          aria-label="Actions of the row"
          autoFocus="first"
          onAction={(label) => {
            setOpen(false)
            runs[label]!()
          }}
        >
          {Object.keys(runs).map((label) => (
            <MenuItem key={label} id={label}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
      {doing && (
        <Doing
          action={doing}
          touches={touches}
          onProblem={setProblem}
          onAnswer={setAnswer}
          onEnd={() => setDoing(null)}
        />
      )}
      {answer}
      {problem && <Failed problem={problem} />}
    </>
  )
}
