/** What is asked for while it runs is done by one more run after it; nobody waits for either. */
export function oneAtATime(act: () => Promise<unknown>, fail: (error: unknown) => void): () => void {
  let [running, again] = [false, false];
  const run = async () => {
    running = true;
    try {
      do {
        again = false;
        await act();
      } while (again);
    } finally {
      running = false;
    }
  };
  return () => {
    again = true;
    if (!running) run().catch(fail);
  };
}
