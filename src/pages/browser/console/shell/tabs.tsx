import { type ComponentType, useEffect } from 'react'
import { Link } from 'wouter'
import { useFilters } from '../ui/filters'
import { useOwner } from './api'
import { PageTabs } from './page'

type Tab = { id: string; label: string; screen: ComponentType }

/** The tab for a word in the address: by its id, else by a word of its label, else the first. */
const tabAt = (tabs: readonly Tab[], word = '') =>
  tabs.find(({ id }) => id === word) ??
  tabs.find(({ label }) => label.toLowerCase().split(' ').includes(word.toLowerCase())) ??
  tabs[0]!

/** A section of several screens. `tab` in the address selects one. The first needs no word. */
export const defineTabs = (section: string, tabs: readonly Tab[]): ComponentType =>
  function Tabbed() {
    const owner = useOwner()
    const { filters } = useFilters()
    const { id, screen: Screen } = tabAt(tabs, filters.tab)
    // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each tab, whose name may be outside a small screen
    useEffect(() => {
      document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest' })
    }, [id])
    const nav = (
      <nav className="tabs" aria-label="Parts of this section">
        {tabs.map((tab, at) => (
          <Link
            key={tab.id}
            href={`/${owner.slug}/${section}${at === 0 ? '' : `?tab=${tab.id}`}`}
            aria-current={tab.id === id ? 'page' : undefined}
          >
            {tab.label}
          </Link>
        ))}
      </nav>
    )
    return (
      <PageTabs value={nav}>
        <Screen key={id} />
      </PageTabs>
    )
  }
