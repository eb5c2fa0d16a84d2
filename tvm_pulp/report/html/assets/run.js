/* The page of one run. */
{
  const { report, causes, title, timeline, memory, roofline, graph, notes } = T.data;
  T.startPage(title, `${report.target} on ${report.soc}${report.cores ? `, ${report.cores} cores` : ''}`, (layer) => report.layers[layer].name);
  T.summary(report, T.data.energy);
  T.causes(report, causes);
  T.layers(report, causes, notes);
  T.timeline(timeline, report.layers);
  T.memories(memory, report.layers);
  T.roofline(roofline, report);
  T.graph(graph, report);
}
