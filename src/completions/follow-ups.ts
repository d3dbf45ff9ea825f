import { shorten } from '../kernel/text'
import type { FollowUp } from './schema'

const MOST = 3

/** Fixed suggestions by mode. */
const BY_MODE: Record<string, FollowUp[]> = {
  code: [
    { label: 'Add tests', prompt: 'Write tests for this code.' },
    { label: 'Explain it', prompt: 'Explain this code step by step.' },
    { label: 'Make it faster', prompt: 'Where could this code be slow, and how would you make it faster?' },
  ],
  think: [
    { label: 'Check the reasoning', prompt: 'What is the weakest step of this reasoning?' },
    { label: 'Other view', prompt: 'Argue the opposite as well as you can.' },
  ],
  roast: [{ label: 'Harder', prompt: 'Again, but less gentle.' }],
  genui: [{ label: 'Dark mode', prompt: 'Add a dark variant of this component.' }],
  // What is asked next of these is a change of them, which nobody can guess.
  image: [],
  video: [],
  domain_analysis: [{ label: 'Risks', prompt: 'What are the three biggest risks in this analysis?' }],
}

const SECTION = /^(?:#{1,4}\s+|\d+\.\s+\*\*|[-*]\s+\*\*)([^\n*#:]{3,60})/gm

/**
 * Up to three follow-up questions: first about the answer's headings, then the fixed ones of the mode.
 * No engine is called, so they cost nothing and add no latency.
 */
export function suggestFollowUps(mode: string, content: string): FollowUp[] {
  if (content.length < 80 && !BY_MODE[mode]) return []
  const fromSections = [...content.matchAll(SECTION)].slice(0, MOST - 1).map(([, title]) => {
    const subject = title!.trim()
    return { label: shorten(subject, 40), prompt: `Tell me more about ${subject}.` }
  })
  const general: FollowUp[] = [{ label: 'Summarise', prompt: 'Summarise that in three sentences.' }]
  return [...fromSections, ...(BY_MODE[mode] ?? general)].slice(0, MOST)
}
