/** Loaded after the chat is there: reads Markdown, which the first look at a chat does not need. */
import { formatted } from '../shared/markdown'
import type { Formatting } from '../widget/formatting'

dispatchEvent(new CustomEvent<Formatting>('svc-text', { detail: formatted }))
