/**
 * The name as the time zone database spells it, of a zone this machine knows; null for any other. Only the
 * case changes: a link such as Asia/Calcutta stays what was chosen. Offsets such as `+02:00` are no names.
 */
export function timeZoneNamed(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
