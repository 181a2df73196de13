/** The time of the day, with the date unless it is today's. `at`: ISO 8601, or milliseconds since the epoch. */
export function timeWords(at: string | number, now: Date): string {
  const time = new Date(at);
  const clock = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return time.toDateString() === now.toDateString() ? clock : `${time.toLocaleDateString()}, ${clock}`;
}
