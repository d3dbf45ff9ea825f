/**
 * The time zone's name as the time zone database spells it; null for an unknown name or an offset such as `+02:00`.
 * Only the case changes: an alias such as Asia/Calcutta stays as the user chose it.
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
